//! Which rank this process is, from the variables that Open MPI's launcher sets for the processes it starts.

/// A process's place among those that were started together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 0.
    pub rank: usize,
    /// How many there are.
    pub size: usize,
}

/// The launcher's variables make no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the launcher says rank {rank:?} of {size:?}")]
pub struct LaunchError {
    /// What `OMPI_COMM_WORLD_RANK` holds.
    pub rank: Option<String>,
    /// What `OMPI_COMM_WORLD_SIZE` holds.
    pub size: Option<String>,
}

impl Place {
    /// Read the place from the environment; a process that no launcher started is rank 0 of 1.
    ///
    /// # Errors
    /// One variable without the other, or numbers that make no sense.
    pub fn from_environment() -> Result<Self, LaunchError> {
        let variable = |name: &str| std::env::var(name).ok();
        Place::parse(variable("OMPI_COMM_WORLD_RANK"), variable("OMPI_COMM_WORLD_SIZE"))
    }

    fn parse(rank: Option<String>, size: Option<String>) -> Result<Self, LaunchError> {
        if rank.is_none() && size.is_none() {
            return Ok(Place { rank: 0, size: 1 });
        }
        let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<usize>().ok());
        match (number(&rank), number(&size)) {
            (Some(rank), Some(size)) if rank < size => Ok(Place { rank, size }),
            _ => Err(LaunchError { rank, size }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_or_refused() {
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(Place::parse(None, None), Ok(Place { rank: 0, size: 1 }));
        assert_eq!(Place::parse(text("2"), text("4")), Ok(Place { rank: 2, size: 4 }));
        for (rank, size) in
            [(text("4"), text("4")), (text("0"), None), (text("-1"), text("4")), (None, text("4"))]
        {
            assert_eq!(Place::parse(rank.clone(), size.clone()), Err(LaunchError { rank, size }));
        }
    }
}
