//! `flexpath stage`: takes streams and publishes them again, from memory and disk of its own. So a simulation waits for
//! no subscriber, and a subscriber for no simulation. (Staging of the SAVIME paper, section 3.1; GLEAN, section 4.3.)
//!
//! A *relay* takes one stream: with one subscriber and one publisher for each rank, all in this process. A *shelf* has on
//! disk what the memory has no room for.

mod beginning;
mod bounds;
mod course;
mod fate;
mod intake;
mod options;
mod own_block;
mod per_host;
mod putting;
mod relay;
mod run;
mod shelf;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use fp_core::Epoch;
use fp_core::rendezvous::Rendezvous;

use crate::arguments::StageOptions;
use crate::failure::Failure;
use crate::interrupt::{Interrupt, NOTICE};
use crate::outage::Outage;
use beginning::Source;
use bounds::Bounds;
use course::Course;
use relay::Relay;
use shelf::{Kept, ToldDamage};

/// A stream that is being staged.
struct Running {
    thread: JoinHandle<Result<(), Failure>>,
    course: Arc<Course>,
}

/// The streams that are staged, those that are not, and why.
struct Stager<'a> {
    options: &'a Arc<StageOptions>,
    rendezvous: Rendezvous,
    interrupt: &'a Interrupt,
    running: BTreeMap<String, Running>,
    /// Openings that were staged to their end.
    done: BTreeSet<(String, Option<Epoch>)>,
    bounds: Arc<Bounds>,
    told_damage: Arc<ToldDamage>,
    outage: Outage,
    failure: Option<Failure>,
}

/// Stages streams until the user has seen enough; with `--once` until all that were staged have ended.
pub(crate) fn run(rendezvous: Rendezvous, options: &StageOptions) -> Result<(), Failure> {
    options.check()?;
    if options.per_host.per_host.is_some() {
        options.per_host.position()?;
    }
    let credentials = options.credentials.read()?;
    let rendezvous = credentials.shown_to(rendezvous)?;
    fp_core::limit_process_bytes(options.limit_bytes());
    let interrupt = Interrupt::watch()?;
    let options = Arc::new(options.clone());
    let (running, done) = (BTreeMap::new(), BTreeSet::new());
    let (bounds, failure) = (Arc::default(), None);
    let mut stager = Stager {
        options: &options,
        rendezvous,
        interrupt: &interrupt,
        running,
        done,
        bounds,
        told_damage: Arc::default(),
        outage: Outage::default(),
        failure,
    };
    let watched = stager.watch();
    // Relays hear of an interrupt themselves.
    let threads = std::mem::take(&mut stager.running).into_iter();
    threads.for_each(|(stream, running)| stager.ended(&stream, running));
    if interrupt.is_requested() {
        return Ok(interrupt.finish()?);
    }
    watched?;
    stager.failure.map_or(Ok(()), Err)
}

impl Stager<'_> {
    fn watch(&mut self) -> Result<(), Failure> {
        for kept in self
            .options
            .disk
            .iter()
            .map(|folder| shelf::kept(folder, &self.told_damage))
            .collect::<Result<Vec<_>, _>>()?
        {
            kept.into_iter()
                .filter(|kept| self.options.takes(&kept.stream))
                .for_each(|kept| self.serve(kept));
        }
        let mut had_some = false;
        while !self.interrupt.is_requested() {
            self.look()?;
            had_some |= !self.running.is_empty();
            if self.options.once && had_some && self.running.is_empty() {
                return Ok(());
            }
            thread::sleep(NOTICE);
        }
        Ok(())
    }

    /// Stages what is new, and takes leave of what has ended.
    fn look(&mut self) -> Result<(), Failure> {
        let is_over =
            |(name, running): (&String, &Running)| running.thread.is_finished().then(|| name.clone());
        let over: Vec<String> = self.running.iter().filter_map(is_over).collect();
        for stream in over {
            if let Some(running) = self.running.remove(&stream) {
                self.ended(&stream, running);
            }
        }
        let alive = self.rendezvous.living(|entry| self.is_new(&entry.name, entry.epoch));
        // What is staged goes on while it is away, and what comes is staged when it is there again.
        let Some(alive) = self.outage.passed(alive)? else { return Ok(()) };
        for (stream, running) in &self.running {
            // It makes way, and a later look takes the new one.
            running.course.set_succeeded(alive.iter().any(|entry| entry.name == *stream));
        }
        for entry in
            alive.into_iter().filter(|entry| !self.running.contains_key(&entry.name)).collect::<Vec<_>>()
        {
            self.start(&entry.name, Source::Stream(entry.epoch));
        }
        Ok(())
    }

    fn is_new(&self, name: &str, epoch: Epoch) -> bool {
        let is_taken = self.running.get(name).is_some_and(|running| running.course.epoch() == Some(epoch));
        self.options.takes(name) && !is_taken && !self.done.contains(&(name.to_owned(), Some(epoch)))
    }

    /// Publishes what an earlier stager left, if the stream is not there to be taken.
    fn serve(&mut self, kept: Kept) {
        let (stream, epoch) = (kept.stream.clone(), kept.epoch);
        let alive = self.rendezvous.living(|entry| entry.name == stream).unwrap_or_default();
        let alive: Vec<Epoch> = alive.iter().map(|entry| entry.epoch).collect();
        match alive.first() {
            None => self.start(&stream, Source::Disk(kept)),
            Some(_) if alive.contains(&epoch) => {}
            Some(_) => eprintln!(
                "flexpath: stream {stream:?}: {} steps of an earlier run are left on disk, in {epoch}",
                kept.steps.len()
            ),
        }
    }

    fn start(&mut self, stream: &str, source: Source) {
        let course = Arc::new(Course::new(source.epoch(), self.interrupt.asked()));
        let shared = (course.clone(), self.bounds.clone(), self.told_damage.clone());
        let relay = Relay::new(stream, self.options, self.rendezvous.clone(), shared);
        let named = thread::Builder::new().name(format!("stage {stream}"));
        match named.spawn(move || run::run(&relay, source)) {
            Ok(thread) => _ = self.running.insert(stream.to_owned(), Running { thread, course }),
            Err(error) => {
                eprintln!("flexpath: stream {stream:?} is not staged: no thread can be started: {error}")
            }
        }
    }

    fn ended(&mut self, stream: &str, running: Running) {
        if !running.course.is_to_repeat() {
            self.done.insert((stream.to_owned(), running.course.epoch()));
        }
        let outcome = running.thread.join();
        let Some(Err(failure)) = outcome.ok() else { return };
        if !self.interrupt.is_requested() {
            eprintln!("flexpath: stream {stream:?} is not staged any more: {failure}");
            self.failure.get_or_insert(failure);
        }
    }
}
