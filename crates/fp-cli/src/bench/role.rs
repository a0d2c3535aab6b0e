//! A process of the bench: one rank, or all of them as threads.

use std::io::{self, BufRead as _, Write as _};
use std::process;
use std::sync::mpsc;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use super::content::Bits;
use super::failure::RoleFailure;
use super::options::{ElementType, RoleOptions};
use super::publisher::publish;
use super::subscriber::subscribe;
use super::task::{Found, Said, Side, Task};

/// How long a role outlives the run's own timeout: its parent ends it before.
const GRACE: Duration = Duration::from_secs(10);

/// Plays the role that the task says.
pub(crate) fn play(options: &RoleOptions) -> Result<(), RoleFailure> {
    let task: Task = serde_json::from_str(&options.task)?;
    end_with_time(task.setup.timeout + GRACE);
    match task.setup.dtype {
        ElementType::I8 => play_with::<i8>(&task),
        ElementType::I16 => play_with::<i16>(&task),
        ElementType::I32 => play_with::<i32>(&task),
        ElementType::I64 => play_with::<i64>(&task),
        ElementType::U8 => play_with::<u8>(&task),
        ElementType::U16 => play_with::<u16>(&task),
        ElementType::U32 => play_with::<u32>(&task),
        ElementType::U64 => play_with::<u64>(&task),
        ElementType::F32 => play_with::<f32>(&task),
        ElementType::F64 => play_with::<f64>(&task),
    }
}

fn play_with<T: Bits>(task: &Task) -> Result<(), RoleFailure> {
    let setup = &task.setup;
    let found = match (task.side, task.blocks.first(), task.parts.first()) {
        (Side::Publisher, Some(blocks), _) => {
            end_with_parent();
            vec![publish::<T>(setup, task.rank, blocks, || say(&Said::Ready))?]
        }
        (Side::Subscriber, _, Some(part)) => {
            await_go();
            vec![subscribe::<T>(setup, task.rank, part)?]
        }
        (Side::All, ..) => {
            end_with_parent();
            all_ranks::<T>(task)?
        }
        _ => return Err(RoleFailure::Array("a task without parts".to_owned())),
    };
    found.into_iter().for_each(|found| say(&Said::Found(Box::new(found))));
    Ok(())
}

/// All ranks as threads: what each found, publishers first. The first that fails ends the process: others may wait
/// for it.
fn all_ranks<T: Bits>(task: &Task) -> Result<Vec<Found>, RoleFailure> {
    let setup = &task.setup;
    let (tx, opened) = mpsc::channel();
    thread::scope(|scope| {
        let mut ranks: Vec<ScopedJoinHandle<'_, Result<Found, RoleFailure>>> = Vec::new();
        for (rank, blocks) in (0..).zip(&task.blocks) {
            let tx = tx.clone();
            ranks.push(scope.spawn(move || {
                // Whoever would hear of it has gone only if the process ends.
                or_end(publish::<T>(setup, rank, blocks, || {
                    let _ = tx.send(());
                }))
            }));
        }
        for _ in 0..setup.publishers {
            let came = opened.recv_timeout(setup.timeout);
            came.map_err(|_| RoleFailure::NoSubscriber(setup.timeout))
                .or_else(|failure| or_end(Err(failure)))?;
        }
        for (rank, part) in (0..).zip(&task.parts) {
            ranks.push(scope.spawn(move || or_end(subscribe::<T>(setup, rank, part))));
        }
        ranks.into_iter().map(|rank| rank.join().unwrap_or(Err(RoleFailure::Panicked))).collect()
    })
}

/// Ends the process where a rank of it has failed.
fn or_end<T>(found: Result<T, RoleFailure>) -> Result<T, RoleFailure> {
    if let Err(failure) = &found {
        eprintln!("{failure}");
        process::exit(1);
    }
    found
}

/// Says something to the parent, if there still is one.
fn say(said: &Said) {
    let line = serde_json::to_string(said).unwrap_or_default();
    let mut out = io::stdout().lock();
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        process::exit(3);
    }
}

/// Waits until the parent says that the stream is there.
fn await_go() {
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(len) if len > 0 => end_with_parent(),
        _ => process::exit(3),
    }
}

/// Ends this process when its parent has gone: nothing else holds the other end of its input.
fn end_with_parent() {
    thread::spawn(|| {
        let mut line = String::new();
        while matches!(io::stdin().lock().read_line(&mut line), Ok(len) if len > 0) {}
        process::exit(3);
    });
}

/// Ends this process when its time is up, whatever it waits for.
fn end_with_time(timeout: Duration) {
    thread::spawn(move || {
        thread::sleep(timeout);
        eprintln!("a rank of the bench took longer than {timeout:?}");
        process::exit(3);
    });
}
