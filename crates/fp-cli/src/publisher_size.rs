//! How many ranks publish a stream.

use std::thread;
use std::time::{Duration, Instant};

use fp_core::diagnosis::status::{StatusReport, StatusScope, status};
use fp_core::rendezvous::Rendezvous;
use fp_core::{LinkOptions, Rank, StepId};

use crate::credentials::Credentials;
use crate::failure::Failure;
use crate::interrupt::NOTICE;

/// Those who take all blocks of a stream are handles of one process, as many as there are ranks.
pub(crate) const LIMIT_RANKS: u32 = 256;

/// How long the lead has to say how many ranks there are, each time that it is asked.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many ranks the publisher has, and the number of its next step. A lead that is busy is asked again.
pub(crate) fn ask(
    stream: &str,
    (rendezvous, credentials): (&Rendezvous, &Credentials),
    awaits: Duration,
    is_over: impl Fn() -> bool,
) -> Result<(u32, StepId), Failure> {
    let mut link = LinkOptions::default();
    credentials.set(&mut link);
    link.rendezvous = Some(rendezvous.clone());
    let began = Instant::now();
    loop {
        let told = status(stream, StatusScope::Rank(Rank(0)), &link, PATIENCE);
        let publisher = |report: StatusReport| report.cohorts.into_iter().find(|cohort| cohort.publishes);
        let is_over = began.elapsed() >= awaits || is_over();
        match told.map(publisher) {
            Ok(Some(cohort)) => {
                let next = cohort.ranks.iter().map(|rank| rank.steps.next).max();
                return Ok((cohort.size, next.unwrap_or_default()));
            }
            Err(error) if is_over => return Err(error.into()),
            Ok(None) if is_over => {
                let ending = "its lead says nothing of its ranks".to_owned();
                return Err(Failure::Ended { stream: stream.to_owned(), ending });
            }
            Ok(None) | Err(_) => thread::sleep(NOTICE),
        }
    }
}
