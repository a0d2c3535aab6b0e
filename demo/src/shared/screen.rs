//! Where the user reads along.

use std::io::Write;

/// Lines for the user. One that cannot be written is passed over: the run, and cleaning up after it, matter more.
pub struct Screen {
    out: Box<dyn Write + Send>,
}

impl Screen {
    /// Lines that go there.
    pub fn new(out: impl Write + Send + 'static) -> Self {
        Screen { out: Box::new(out) }
    }

    /// Show one line.
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}").and_then(|()| self.out.flush());
    }
}
