//! One run of the pipeline on one problem, from the first process to the last.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use flexpath::Rendezvous;
use tempfile::TempDir;

use super::super::part::Part;
use super::super::reach::make_token;
use super::super::report::Line;
use super::super::settings::{Settings, SourceKind};
use super::board::Board;
use super::checks::check;
use super::children::Children;
use super::notice::{Judged, Notice};
use super::table::Table;
use super::watch::watch;
use crate::shared::check_result::CheckResult;
use crate::shared::interrupt::Interrupt;
use crate::shared::processes::list;
use crate::shared::screen::Screen;

/// How soon an interrupt or an end is noticed.
const LOOK: Duration = Duration::from_millis(50);

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
    /// It took too long.
    #[error("not done within {limit:?}; still running: {running}")]
    TooLong { limit: Duration, running: String },
    /// A part failed.
    #[error("{label} ended with {status}{}", if why.is_empty() { String::new() } else { format!(": {}", why.join("; ")) })]
    PartFailed { label: String, status: std::process::ExitStatus, why: Vec<String> },
    /// The verdicts could not be followed.
    #[error("the verdicts could not be followed: {0}")]
    Watch(String),
    /// The rendezvous.
    #[error(transparent)]
    Rendezvous(#[from] flexpath::rendezvous::RendezvousError),
    /// The system refused something.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A run under way.
pub(super) struct Run<'a> {
    settings: Settings,
    started: Instant,
    limit: Duration,
    interrupt: &'a Interrupt,
    screen: &'a mut Screen,
    inbox: Receiver<Notice>,
    board: Board,
    table: Table,
    /// Outputs that are still read, the watch included.
    speaking: usize,
    rendezvous: Rendezvous,
    // Ended, in this order, when the run is dropped: first the processes, then their folder.
    children: Children,
    _folder: TempDir,
}

impl<'a> Run<'a> {
    /// Start all parts but CNA, which the watch starts, and Guest.
    pub(super) fn start(
        settings: &Settings,
        limit: Duration,
        interrupt: &'a Interrupt,
        screen: &'a mut Screen,
    ) -> Result<Self, RunError> {
        let folder = tempfile::Builder::new().prefix("flexpath-demo-").tempdir()?;
        let rendezvous = Rendezvous::at(folder.path())?;
        if settings.address.is_some() {
            make_token(folder.path())?;
        }
        let (sender, inbox) = channel();
        let children = Children::new(settings, folder.path(), limit, sender.clone());
        watch(rendezvous.clone(), settings, sender);
        let mut run = Run {
            settings: settings.clone(),
            started: Instant::now(),
            limit,
            interrupt,
            screen,
            inbox,
            board: Board::default(),
            table: Table::new(),
            speaking: 1,
            rendezvous,
            children,
            _folder: folder,
        };
        run.introduce();
        let in_python = settings.python.is_some().then_some(Part::Energy);
        Part::FROM_THE_START.into_iter().chain(in_python).try_for_each(|part| run.start_part(part))?;
        Table::header().iter().for_each(|line| run.screen.line(line));
        Ok(run)
    }

    fn introduce(&mut self) {
        let (config, ranks) = (self.settings.run_config(), self.settings.ranks);
        let launcher = match self.settings.source {
            SourceKind::Lammps => "LAMMPS under mpirun",
            SourceKind::BuiltIn => "built-in molecular dynamics (NOT LAMMPS)",
        };
        let (steps, publish, compare) = (config.steps, config.publish_every, config.compare_every);
        let folder = &self.rendezvous;
        let lines = [
            String::new(),
            format!("== {}: {launcher} on {ranks} ranks", self.settings.problem.name()),
            format!("  {steps} time steps; one in {publish} is published, one in {compare} compared"),
            format!("  from another shell: FLEXPATH_RENDEZVOUS={folder} flexpath ls"),
        ];
        lines.iter().for_each(|line| self.screen.line(line));
    }

    fn start_part(&mut self, part: Part) -> Result<(), RunError> {
        let known = self.children.processes().len();
        self.children.start(part)?;
        let fresh = &self.children.processes()[known..];
        self.speaking += fresh.len();
        self.screen.line(&format!("  started: {}", list(fresh)));
        Ok(())
    }

    /// Follow the run to its end.
    pub(super) fn finish(mut self) -> Result<Vec<CheckResult>, RunError> {
        while self.speaking > 0 || !self.children.are_all_ended() {
            match self.inbox.recv_timeout(LOOK) {
                Ok(notice) => self.take(notice)?,
                Err(RecvTimeoutError::Timeout) => {}
                // The children keep a sender, so this cannot be; and were it so, there would be nothing to wait for.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.look_after_children()?;
        }
        let left_behind = self.rendezvous.entries().len();
        let took = self.started.elapsed();
        Ok(check(&self.settings, &self.board, self.children.processes(), left_behind, took))
    }

    fn take(&mut self, notice: Notice) -> Result<(), RunError> {
        match notice {
            Notice::Said(line) => self.take_line(*line),
            Notice::Noise { label, text } => {
                self.board.take_answer(&text);
                self.screen.line(&format!("  {label}: {text}"));
            }
            Notice::Silent => self.speaking -= 1,
            Notice::Judged(judged) => self.take_verdict(judged)?,
            Notice::WatchEnded(Ok(())) => self.speaking -= 1,
            Notice::WatchEnded(Err(what)) => return Err(RunError::Watch(what)),
        }
        Ok(())
    }

    fn take_line(&mut self, line: Line) {
        let (knew_source, worked) = (self.board.source.is_some(), self.board.cna_went_ms.is_some());
        for text in self.board.take(line) {
            self.screen.line(&text);
        }
        if !worked && self.board.cna_went_ms.is_some() {
            self.screen.line("  CNA is done: it has left the stream");
        }
        if let (false, Some(name)) = (knew_source, &self.board.source) {
            self.screen.line(&format!("  source: {name}"));
        }
    }

    fn take_verdict(&mut self, judged: Judged) -> Result<(), RunError> {
        let is_first = judged.torn && self.board.torn_at().is_none();
        self.board.judged.push(judged);
        self.screen.line(&self.table.row(&judged, &self.board));
        if is_first {
            self.screen.line(&format!("  verdict: torn at step {}; the watch calls CNA", judged.time_step));
        }
        if self.board.judged.len() as u64 == self.settings.guest_after() {
            self.start_part(Part::Guest)?;
        }
        Ok(())
    }

    fn look_after_children(&mut self) -> Result<(), RunError> {
        if self.interrupt.is_requested() {
            return Err(RunError::Interrupted);
        }
        for index in self.children.reap()? {
            self.look_at_end(index)?;
        }
        if self.started.elapsed() < self.limit {
            return Ok(());
        }
        let running = self.children.processes().iter().filter(|process| process.status.is_none());
        let running: Vec<&str> = running.map(|process| process.label.as_str()).collect();
        Err(RunError::TooLong { limit: self.limit, running: running.join(", ") })
    }

    fn look_at_end(&mut self, index: usize) -> Result<(), RunError> {
        let process = &self.children.processes()[index];
        let Some(status) = process.status.filter(|status| !status.success()) else {
            return Ok(());
        };
        let (label, mut why) = (process.label.clone(), process.last_words());
        // What it said last may still be on its way.
        while let Ok(notice) = self.inbox.recv_timeout(LOOK) {
            if let Notice::Said(line) = notice {
                self.take_line(*line);
            }
        }
        why.extend(self.board.failures.iter().cloned());
        Err(RunError::PartFailed { label, status, why })
    }
}
