//! The end that answers: for others, or as the second process of a test of this machine with itself.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStderr, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use fp_core::diagnosis::Answering;
use fp_core::{Contact, LinkOptions};

use super::advice;
use crate::credentials::CredentialOptions;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::program::Program;

/// Prints the contact, and answers until the user, or whoever started this, has seen enough.
pub(super) fn listen(link: &LinkOptions, until_input_ends: bool) -> Result<(), Failure> {
    let answering = Answering::listen(link);
    let answering = answering
        .map_err(|source| Failure::Listen { advice: advice::of(&source), source: Box::new(source) })?;
    let interrupt = Interrupt::watch()?;
    let input_ended = Arc::new(AtomicBool::new(false));
    if until_input_ends {
        // Never joined: it waits for an end that ctrl-c does not bring.
        let ended = Arc::clone(&input_ended);
        thread::spawn(move || {
            let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
            ended.store(true, Ordering::Relaxed);
        });
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", answering.contact())?;
    out.flush()?;
    drop(out);
    let stopped = || interrupt.is_requested() || input_ended.load(Ordering::Relaxed);
    let served = answering.serve(&stopped);
    served.map_err(|error| Failure::Listen { source: Box::new(error.into()), advice: String::new() })?;
    Ok(interrupt.finish()?)
}

/// This program in a second process, which answers until it is dropped, or this process is gone.
pub(super) struct Second {
    _process: Process,
    /// Where it can be probed.
    pub(super) contact: Contact,
}

impl Second {
    /// Starts it and waits for its contact.
    pub(super) fn start(
        program: &Program,
        link: &LinkOptions,
        credentials: &CredentialOptions,
    ) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("a second process cannot be started: {error}");
        let mut command = program.anew().map_err(failed)?;
        command.args(["doctor", "--listen", "--until-input-ends"]).args(credentials.arguments());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Process(command.spawn().map_err(failed)?);
        // Read to its end meanwhile: what is logged there may be more than a pipe holds.
        let errors = process.0.stderr.take().map(|errors| thread::spawn(move || complaint(errors)));
        first_line(&mut process.0, link.open_timeout)
            .map(|contact| Self { contact, _process: process })
            .map_err(|why| {
                // The process was dropped with what would have kept it: it says no more.
                let said = errors.and_then(|errors| errors.join().ok());
                said.filter(|said| !said.is_empty()).unwrap_or(why)
            })
    }
}

/// A process that ends with its owner. The owner kills it; should the owner be gone first, it ends with its input.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It has nothing to leave in order, and may have ended by itself, which is as well.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What it complained of.
fn complaint(mut errors: ChildStderr) -> String {
    let mut text = String::new();
    let _ = errors.read_to_string(&mut text);
    text.trim().trim_start_matches("flexpath: ").to_owned()
}

/// The contact that it prints.
fn first_line(child: &mut Child, patience: Duration) -> Result<Contact, String> {
    let silent = || "the second process did not say where it can be reached".to_owned();
    let stdout = child.stdout.take().ok_or_else(silent)?;
    let (tx, rx) = mpsc::channel();
    thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        tx.send(read.map(|_| line))
    });
    let line = rx.recv_timeout(patience).ok().and_then(Result::ok).ok_or_else(silent)?;
    line.trim_end().parse().map_err(|_| silent())
}
