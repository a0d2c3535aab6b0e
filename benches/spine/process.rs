//! Roles: each runs in a process of its own, this same binary, and prints what it found as `key=value` words.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::str::FromStr;

/// The word that makes this binary a role.
pub(crate) const ROLE: &str = "--role";

/// `key=value` words, one way or the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words(BTreeMap<String, String>);

impl Words {
    /// Of words with a `=` in them.
    pub(crate) fn parse<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let pair =
            |word: &'a str| word.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
        Self(words.filter_map(pair).collect())
    }

    /// A value that must be there.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.0.get(key).unwrap_or_else(|| panic!("no {key} in {self:?}"))
    }

    /// A number that must be there.
    pub(crate) fn number<T: FromStr>(&self, key: &str) -> T {
        self.text(key).parse().unwrap_or_else(|_| panic!("{key} is no number in {self:?}"))
    }

    /// Numbers with commas between them.
    pub(crate) fn list(&self, key: &str) -> Vec<f64> {
        let text = self.text(key);
        text.split(',').filter(|word| !word.is_empty()).map(|word| word.parse().expect("a number")).collect()
    }
}

/// Numbers as [`Words::list`] takes them.
pub(crate) fn listed<T: Display>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

/// A role to be started.
#[derive(Clone)]
pub(crate) struct Role {
    name: &'static str,
    words: Vec<String>,
}

impl Role {
    /// The role of that name.
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, words: Vec::new() }
    }

    /// Gives it a word.
    #[must_use]
    pub(crate) fn with(mut self, key: &str, value: impl Display) -> Self {
        self.words.push(format!("{key}={value}"));
        self
    }

    /// Starts it.
    pub(crate) fn start(&self) -> Running {
        let program = std::env::current_exe().expect("the path of this binary");
        let mut command = Command::new(program);
        command.arg(ROLE).arg(self.name).args(&self.words);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("a child process");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        Running { name: self.name, child, output }
    }
}

/// A role under way; killed if it is dropped before it has finished.
pub(crate) struct Running {
    name: &'static str,
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Running {
    /// What it says next.
    pub(crate) fn line(&mut self) -> Words {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("its output");
        assert!(!line.is_empty(), "{} ended without a word", self.name);
        Words::parse(line.split_whitespace())
    }

    /// Its last words, when it has ended well.
    pub(crate) fn finish(mut self) -> Words {
        let words = self.line();
        let status = self.child.wait().expect("its end");
        assert!(status.success(), "{} ended with {status}", self.name);
        words
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
