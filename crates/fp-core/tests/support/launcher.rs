//! A launcher whose ranks are threads of this process: collectives that count their calls, and that can be made to
//! go wrong on one rank.

use fp_core::{Cohort, CollectiveFailure, Collectives};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

#[derive(Default)]
struct Round {
    given: Vec<Option<Vec<u8>>>,
    outcome: Option<Vec<u8>>,
}

/// What goes wrong with a collective on one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Fails,
    TooShort,
    Unwritten,
    Swapped,
    BarrierFails,
}

/// One rank's place in the hall, and what it called.
#[derive(Clone)]
pub struct Place {
    hall: Arc<(Mutex<Vec<Round>>, Condvar)>,
    pub rank: u32,
    /// The ranks that really are there.
    there: u32,
    /// The ranks that this one believes in.
    pub size: u32,
    pub fault: Option<Fault>,
    pub calls: Arc<Mutex<Vec<(&'static str, ThreadId)>>>,
}

/// Places for all ranks of a cohort.
pub fn places(size: u32) -> Vec<Place> {
    let hall = Arc::new((Mutex::default(), Condvar::new()));
    let place =
        |rank| Place { hall: hall.clone(), rank, there: size, size, fault: None, calls: Arc::default() };
    (0..size).map(place).collect()
}

impl Place {
    pub fn cohort(&self) -> Cohort {
        Cohort::of(self.rank, self.size).expect("a rank")
    }

    pub fn called(&self) -> Vec<&'static str> {
        self.calls.lock().expect("calls").iter().map(|(name, _)| *name).collect()
    }

    fn meet(&self, name: &'static str, own: &[u8]) -> Result<Vec<u8>, CollectiveFailure> {
        let mut calls = self.calls.lock().expect("calls");
        let round = calls.len();
        calls.push((name, std::thread::current().id()));
        drop(calls);
        let (rounds, told) = &*self.hall;
        let mut rounds = rounds.lock().expect("rounds");
        let size = self.there as usize;
        let len = rounds.len().max(round + 1);
        rounds.resize_with(len, Round::default);
        rounds[round].given.resize(size, None);
        rounds[round].given[self.rank as usize] = Some(own.to_vec());
        if rounds[round].given.iter().all(Option::is_some) {
            rounds[round].outcome = Some(rounds[round].given.iter().flatten().flatten().copied().collect());
            told.notify_all();
        }
        let wait = told.wait_timeout_while(rounds, super::PATIENCE, |rounds| rounds[round].outcome.is_none());
        let (rounds, _) = wait.expect("rounds");
        rounds[round].outcome.clone().ok_or_else(|| format!("nobody came to {name}").into())
    }
}

impl Collectives for Place {
    fn allgather(&self, own: &[u8]) -> Result<Vec<u8>, CollectiveFailure> {
        let mut all = self.meet("allgather", own)?;
        match self.fault {
            Some(Fault::Fails) => return Err("the network is down".into()),
            Some(Fault::TooShort) => all.truncate(all.len() - 1),
            Some(Fault::Unwritten) => all.fill(0),
            Some(Fault::Swapped) => all.rotate_left(own.len()),
            Some(Fault::BarrierFails) | None => {}
        }
        Ok(all)
    }

    fn barrier(&self) -> Result<(), CollectiveFailure> {
        self.meet("barrier", &[])?;
        if self.fault == Some(Fault::BarrierFails) {
            return Err("the barrier is down".into());
        }
        Ok(())
    }
}

/// Time for a rank that waits in vain: short, as others fail at once.
pub const SHORT: Duration = Duration::from_secs(2);
