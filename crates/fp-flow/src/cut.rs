//! Rows cut into windows: a machine that knows nothing of what is in a row.

/// The rows since the last window, and those that the next one shares with it.
#[derive(Debug)]
pub(crate) struct Cutter<R> {
    length: usize,
    hop: usize,
    rows: Vec<R>,
    /// Rows that no window has had.
    fresh: usize,
}

impl<R: Clone> Cutter<R> {
    /// Windows of `length` rows, each `hop` rows after the one before; neither is 0, and `hop` is not the longer.
    pub(crate) fn new(length: usize, hop: usize) -> Self {
        Self { length, hop, rows: Vec::new(), fresh: 0 }
    }

    /// Takes a row: the window that it completes.
    pub(crate) fn push(&mut self, row: R) -> Option<Vec<R>> {
        self.rows.push(row);
        self.fresh += 1;
        if self.rows.len() < self.length {
            return None;
        }
        self.fresh = 0;
        let kept = self.rows.split_off(self.hop);
        let mut window = std::mem::replace(&mut self.rows, kept);
        window.extend(self.rows.iter().cloned());
        Some(window)
    }

    /// Begins anew: the rows that are left, if one of them was in no window.
    pub(crate) fn flush(&mut self) -> Option<Vec<R>> {
        let rows = std::mem::take(&mut self.rows);
        (std::mem::take(&mut self.fresh) > 0).then_some(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The windows of these rows, by their definition.
    fn windows(rows: u32, length: u32, hop: u32) -> Vec<Vec<u32>> {
        let mut windows = Vec::new();
        let mut first = 0;
        while first + length <= rows {
            windows.push((first..first + length).collect());
            first += hop;
        }
        // The next one is cut short, and is one only if a row of it was in none.
        let seen = windows.last().map_or(0, |last: &Vec<u32>| last[0] + length);
        if seen < rows {
            windows.push((first..rows).collect());
        }
        windows
    }

    proptest! {
        #[test]
        fn windows_are_those_of_the_definition(rows in 0_u32..40, length in 1_u32..9, hop in 1_u32..9) {
            let hop = hop.min(length);
            let mut cutter = Cutter::new(length as usize, hop as usize);
            let mut found: Vec<Vec<u32>> = (0..rows).filter_map(|row| cutter.push(row)).collect();
            found.extend(cutter.flush());
            prop_assert_eq!(&found, &windows(rows, length, hop));
            prop_assert_eq!(cutter.flush(), None);
            // What comes behind a flush shares nothing with what was before it.
            found = (0..rows).filter_map(|row| cutter.push(row)).collect();
            found.extend(cutter.flush());
            prop_assert_eq!(found, windows(rows, length, hop));
        }
    }
}
