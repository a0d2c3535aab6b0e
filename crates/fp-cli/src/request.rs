//! `flexpath request`: asks a running simulation for values of its parameters.

use std::io::Write as _;
use std::time::Duration;

use fp_core::rendezvous::Rendezvous;
use fp_core::{Interrupt as Asked, QueuePolicy, SubscriberOptions};

use crate::arguments::{Assignment, RequestOptions};
use crate::describe::open;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// Options of one who asks. It takes no step, so nothing is kept for it, and nobody waits for it.
pub(crate) fn asker(interrupt: &Interrupt, timeout: Duration) -> SubscriberOptions {
    SubscriberOptions::default()
        .with_open_timeout(timeout)
        .with_variables(Vec::<String>::new())
        .with_policy(QueuePolicy::DropOldest)
        .with_interrupt(Asked::new(interrupt.asked()))
}

/// Asks for one after another, and says what became of each.
pub(crate) fn run(rendezvous: Rendezvous, options: &RequestOptions) -> Result<(), Failure> {
    let credentials = options.credentials.read()?;
    let interrupt = Interrupt::watch()?;
    let asked = asker(&interrupt, options.timeout);
    let mut subscriber = open(&options.stream, asked, &credentials, rendezvous)?;
    let mut outcome = Ok(());
    for assignment in &options.assignments {
        let Assignment { parameter, value } = assignment;
        let asked = match options.now {
            true => subscriber.request_now(parameter, value.clone(), options.timeout),
            false => subscriber.request(parameter, value.clone(), options.timeout),
        };
        match asked {
            Ok(step) => {
                writeln!(std::io::stdout(), "{parameter} = {value}: applied at step {step}")?;
            }
            Err(error) => {
                outcome = Err(Failure::Request(Box::new(error)));
                break;
            }
        }
    }
    let closed = subscriber.close();
    if interrupt.is_requested() {
        return Ok(interrupt.finish()?);
    }
    // Why it was not taken says more than how it was left.
    outcome?;
    Ok(closed?)
}
