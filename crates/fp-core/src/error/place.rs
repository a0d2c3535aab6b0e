//! Where something failed, as every text says it first: `stream "heat", step 3, rank 0, variable "T": `.

use crate::error::misuse::Misuse;

/// The text of a mistake in a stream: its own places, which are further in, follow that of the stream.
pub(crate) fn within(stream: &str, misuse: &Misuse) -> String {
    let text = misuse.to_string();
    let has_places = ["step ", "variable "].iter().any(|place| text.starts_with(place));
    let between = if has_places { "," } else { ":" };
    format!("stream {stream:?}{between} {text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_types::StepId;

    #[test]
    fn places_go_from_the_outside_in() {
        assert_eq!(
            within("heat", &Misuse::StepNotOpen(StepId(3))),
            "stream \"heat\", step 3: it is not open any more"
        );
        let none = within("heat", &Misuse::Closed);
        assert!(none.starts_with("stream \"heat\": the subscriber is closed"), "{none}");
    }
}
