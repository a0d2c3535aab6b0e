//! The Python package: short files that say what they are, lines that fit, tests that wait for something.

use crate::length::FILE_LIMIT_LINES;
use crate::source::Text;

/// The package's folder. What is elsewhere in Python are tools of a few lines.
const FOLDER: &str = "python/";
/// No line is longer; in tests and benches a row of a table may be.
const LINE_LIMIT_COLUMNS: usize = 120;
const ROW_LIMIT_COLUMNS: usize = 140;
/// What guesses how long something takes. Asking the event loop to go on, with no time at all, is no guess.
const SLEEPS: &[&str] = &[concat!("time.sle", "ep("), concat!("asyncio.sle", "ep(")];
/// The sleep that is none.
const NO_SLEEP: &str = concat!("asyncio.sle", "ep(0)");
/// A test that is passed over wherever it runs.
const PASSED_OVER: &str = concat!("pytest.mark.sk", "ip(");

/// Complains about a file of the package.
pub(crate) fn check(text: &Text) -> Vec<String> {
    let is_code = text.path.ends_with(".py") || text.path.ends_with(".pyi");
    if !(is_code && text.path.starts_with(FOLDER)) {
        return Vec::new();
    }
    let lines = text.content.lines().count();
    let mut found = Vec::new();
    if !text.content.trim_start_matches("#!/usr/bin/env python3\n").starts_with("\"\"\"") {
        found.push(format!("{}: does not open with what it is, in three quotes", text.path));
    }
    if lines > FILE_LIMIT_LINES {
        found.push(format!("{}: {lines} lines; the limit is {FILE_LIMIT_LINES}", text.path));
    }
    let numbered = text.content.lines().enumerate();
    found.extend(numbered.filter_map(|(index, line)| line_complaint(&text.path, index + 1, line)));
    found
}

/// The complaint about one line.
fn line_complaint(path: &str, number: usize, line: &str) -> Option<String> {
    let columns = line.chars().count();
    let is_test = path.contains("tests/");
    let sleeps = SLEEPS.iter().any(|call| line.replace(NO_SLEEP, "").contains(call));
    let limit = if is_test || path.contains("benches/") { ROW_LIMIT_COLUMNS } else { LINE_LIMIT_COLUMNS };
    let complaint = if columns > limit {
        format!("{columns} columns; the limit is {limit}")
    } else if is_test && sleeps {
        "a test that sleeps guesses".to_owned()
    } else if is_test && line.contains(PASSED_OVER) {
        "a test that is passed over tests nothing".to_owned()
    } else {
        return None;
    };
    Some(format!("{path}:{number}: {complaint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, content: &str) -> usize {
        check(&Text { path: path.into(), content: content.into() }).len()
    }

    #[test]
    fn files_that_do_not_say_what_they_are_or_are_long_are_found() {
        assert_eq!(complaints("python/flexpath/a.py", "\"\"\"Says it.\"\"\"\n"), 0);
        assert_eq!(complaints("python/benches/a.py", "#!/usr/bin/env python3\n\"\"\"Says it.\"\"\"\n"), 0);
        assert_eq!(complaints("python/flexpath/a.py", "import os\n"), 1);
        assert_eq!(complaints("scripts/a.py", "import os\n"), 0);
        assert_eq!(complaints("python/a.py", &format!("\"\"\"Says it.\"\"\"\n{}", "a = 1\n".repeat(500))), 1);
    }

    #[test]
    fn lines_that_do_not_fit_are_found() {
        let line = |columns: usize| format!("\"\"\"Says it.\"\"\"\n{}\n", "µ".repeat(columns));
        assert_eq!(complaints("python/a.py", &line(120)), 0);
        assert_eq!(complaints("python/a.py", &line(121)), 1);
        assert_eq!(complaints("python/tests/a.py", &line(140)), 0);
        assert_eq!(complaints("python/tests/a.py", &line(141)), 1);
    }

    #[test]
    fn tests_that_sleep_or_are_passed_over_are_found() {
        let complaints =
            |path: &str, line: &str| complaints(path, &format!("\"\"\"Says it.\"\"\"\n{line}\n"));
        for call in SLEEPS {
            assert_eq!(complaints("python/tests/test_a.py", &format!("{call}0.1)")), 1);
            assert_eq!(complaints("python/flexpath/a.py", &format!("{call}0.1)")), 0);
        }
        assert_eq!(complaints("python/tests/test_a.py", &format!("await {NO_SLEEP}")), 0);
        assert_eq!(complaints("python/tests/test_a.py", &format!("@{PASSED_OVER}\"why\")")), 1);
    }
}
