//! The programs in C and Fortran of docs/watches.md and docs/steering.md run as they stand there. What they print is compared.

#[allow(dead_code)] // each test binary uses its part
#[path = "../../../../tests/guides/blocks.rs"]
mod blocks;

use crate::support::{GFORTRAN_FLAGS, LIBRARY, LIBRARY_AND_MODULE, as_rank, of_repository, place, start};
use blocks::{PAGES, blocks_in};
use fp_core::{
    Publisher, PublisherOptions, QueuePolicy, Region, Rendezvous, RequestError, Subscriber,
    SubscriberOptions, Variable,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const STEPS: u64 = 30;
const LEN: u64 = 6;
const WATCHES: &str = PAGES[0];
const STEERING: &str = PAGES[1];
const PATIENCE: Duration = Duration::from_secs(60);

/// The greatest element of a step, and its place.
fn greatest(step: u64) -> (f64, u64) {
    ((step * 7 % 13) as f64 + 0.5, step * 5 % LEN)
}

fn is_hot(step: u64) -> bool {
    greatest(step).0 > 9.0
}

/// Publishes the steps to one watch.
fn publish(place: &Path) {
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(place).expect("a place"));
    let options = options.with_min_subscribers(1).with_derive_budget(Duration::from_secs(60));
    let mut publisher = Publisher::open("heat", options).expect("the stream opens");
    let variable = Variable::global::<f64>("T", &[LEN]).expect("a variable");
    for step in 0..STEPS {
        let (number, at) = greatest(step);
        let mut elements = vec![-1.0; LEN as usize];
        elements[at as usize] = number;
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&variable, &Region::whole(variable.shape()), elements).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// What a program prints that watches `rises(max(T) > 9)`, where places count from `first`.
fn wanted(first: u64) -> String {
    let rises = (0..STEPS).filter(|step| is_hot(*step) && (*step == 0 || !is_hot(step - 1)));
    let line = |step| {
        let (number, at) = greatest(step);
        format!("max(T) is {number}, at {}\n", at + first)
    };
    let lines: String = rises.map(line).collect();
    assert!(lines.lines().count() > 3, "{lines}");
    lines
}

/// The program around a block, compiled.
fn compiled(name: &str, text: &str) -> PathBuf {
    let folder = place();
    let source = folder.path().join(name);
    std::fs::write(&source, text).expect("written");
    let source = source.to_str().expect("a text");
    match name.ends_with(".c") {
        true => LIBRARY.compile(source),
        false => LIBRARY_AND_MODULE.compile_by("gfortran", &GFORTRAN_FLAGS, &[source]),
    }
}

fn printed(program: &Path) -> String {
    let place = place();
    let mut command = Command::new(program);
    as_rank(&mut command, place.path(), (0, 1), "shm,tcp");
    let program = start(&mut command);
    publish(place.path());
    program.printed()
}

/// The one block of a page in that language. Another one is run by nobody.
fn block(page: &str, language: &str) -> String {
    let all = blocks_in(&of_repository(""), page, language);
    let [block] = &all[..] else { panic!("docs/{page}: {} blocks in {language}", all.len()) };
    block.clone()
}

#[test]
fn the_watch_in_c_prints_what_was_measured() {
    let text = format!(
        "#include <flexpath.h>\n#include <stdio.h>\n\nint main(void)\n{{\n    flexpath_options *options;\n    \
         flexpath_subscriber *subscriber;\n    flexpath_step *step;\n    flexpath_options_create(&options);\n{}    \
         flexpath_options_free(options);\n    return flexpath_subscriber_close(subscriber);\n}}\n",
        block(WATCHES, "c")
    );
    assert_eq!(printed(&compiled("watch.c", &text)), wanted(0));
}

#[test]
fn the_watch_in_fortran_prints_what_was_measured() {
    let text = format!(
        "program watch\n  use flexpath\n  implicit none\n  type(flexpath_options) :: options\n  \
         type(flexpath_subscriber) :: subscriber\n  type(flexpath_step) :: step\n  type(flexpath_measured) :: top\n  \
         integer :: status\n{}call flexpath_options_free(options)\ncall flexpath_subscriber_close(subscriber)\n\
         end program watch\n",
        block(WATCHES, "fortran")
    );
    assert_eq!(printed(&compiled("watch.f90", &text)), wanted(1));
}

/// Runs a simulation of docs/steering.md: it takes 2 and declines 0, as the page's program in Rust does.
fn steer(program: &Path) -> String {
    let place = place();
    let mut command = Command::new(program);
    as_rank(&mut command, place.path(), (0, 1), "shm,tcp");
    let program = start(&mut command);
    let options =
        || SubscriberOptions::default().with_rendezvous(Rendezvous::at(place.path()).expect("a place"));
    // Without this one its thousand steps would be over at once.
    let mut holding = Subscriber::open("heat", options()).expect("attached");
    let lossy = options().with_variables(Vec::<String>::new()).with_policy(QueuePolicy::DropOldest);
    let mut asker = Subscriber::open("heat", lossy).expect("attached");
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let known = asker.parameters(PATIENCE).expect("they are told");
            assert_eq!(known[0].text, "of the plate, in W/(m K)");
            asker.request("conductivity", 2.0, PATIENCE).expect("it is taken");
            asker.request("conductivity", 0.0, PATIENCE)
        });
        while !asking.is_finished() {
            holding.next_step(Duration::from_millis(1)).expect("a step");
        }
        let declined = asking.join().expect("it did not panic");
        let Err(RequestError::Declined { .. }) = &declined else { panic!("{declined:?}") };
        assert!(declined.unwrap_err().to_string().contains("it would not conduct at all"));
    });
    asker.close().expect("left");
    holding.close().expect("left");
    program.printed()
}

#[test]
fn the_simulation_in_c_takes_what_it_is_asked_for() {
    let text = format!(
        "#include <flexpath.h>\n#include <stdio.h>\n\nint main(void)\n{{\n    double conductivity = 1;\n    \
         flexpath_options *options;\n    flexpath_publisher *publisher;\n    flexpath_options_create(&options);\n{}    \
         printf(\"%g\\n\", conductivity);\n    flexpath_options_free(options);\n    \
         return flexpath_publisher_close(publisher);\n}}\n",
        block(STEERING, "c")
    );
    assert_eq!(steer(&compiled("simulation.c", &text)), "2\n");
}

#[test]
fn the_simulation_in_fortran_takes_what_it_is_asked_for() {
    let text = format!(
        "program simulation\n  use flexpath\n  use, intrinsic :: iso_fortran_env, only: real64\n  implicit none\n  \
         type(flexpath_options) :: options\n  type(flexpath_publisher) :: publisher\n  \
         type(flexpath_request) :: request\n  real(real64) :: conductivity = 1\n  integer :: iteration, requests, at\n  \
         call flexpath_options_create(options)\n{}print '(f0.1)', conductivity\n\
         call flexpath_publisher_close(publisher)\ncall flexpath_options_free(options)\nend program simulation\n",
        block(STEERING, "fortran")
    );
    assert_eq!(steer(&compiled("simulation.f90", &text)), "2.0\n");
}
