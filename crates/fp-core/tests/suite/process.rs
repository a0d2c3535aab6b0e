//! A process of its own that publishes a step for each line that it reads, until it is killed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

/// This program in the role of one of its tests; killed when it is dropped.
pub(crate) struct Process(Child, BufReader<ChildStdout>);

impl Process {
    /// Starts it as that test, which finds in a variable of the environment what it is to do.
    pub(crate) fn start(test: &str, variable: &str, what: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env(variable, what)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let told = BufReader::new(child.stdout.take().expect("piped"));
        Self(child, told)
    }

    /// Has it publish a step for that line; the step's number.
    pub(crate) fn publish(&mut self, line: &str) -> u64 {
        writeln!(self.0.stdin.as_mut().expect("piped"), "{line}").expect("it listens");
        let mut line = String::new();
        while !line.contains("published ") {
            line.clear();
            assert!(self.1.read_line(&mut line).expect("it tells") > 0, "it has ended");
        }
        let number = line.rsplit_once("published ").expect("as said").1;
        number.trim().parse().expect("a number")
    }

    pub(crate) fn kill(mut self) {
        self.0.kill().expect("killed");
        self.0.wait().expect("it has ended");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
