//! The examples in Fortran: what docs/fortran.md shows is run word for word, and the solver under mpirun.

use crate::support::{LIBRARY_AND_MODULE, Mpi, example, of_repository, place, printed, start};
use fp_core::{NextStep, QueuePolicy, Rendezvous, Subscriber, SubscriberOptions};
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

fn text(path: &str) -> String {
    std::fs::read_to_string(of_repository(path)).expect("the file is there")
}

/// What stands in the blocks of a language, in their order.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let inside = |block: &str| block.split("```").next().unwrap_or_default().to_owned();
    document.split(&fence).skip(1).map(inside).collect()
}

#[test]
fn a_stranger_publishes_by_the_document_alone() {
    let (document, place) = (text("docs/fortran.md"), place());
    let programs = blocks(&document, "fortran");
    for (name, program) in ["publisher.f90", "subscriber.f90"].into_iter().zip(&programs) {
        assert_eq!(*program, text(&format!("examples/fortran/{name}")));
        std::fs::write(place.path().join(name), program).expect("written");
    }
    std::os::unix::fs::symlink(LIBRARY_AND_MODULE.prefix(), place.path().join(".local")).expect("a link");
    let [script] = &blocks(&document, "sh")[..] else { panic!("one block of sh") };
    let mut shell = Command::new("sh");
    shell.args(["-eu", "-c"]).arg(format!("{script}\nwait")).current_dir(place.path());
    shell.env("HOME", place.path()).env("FLEXPATH_RENDEZVOUS", place.path());
    let printed = printed(shell.output().expect("sh runs"));
    let first = "time 0.0:  321.0  322.0  323.0  324.0  325.0  326.0, mean  329.0\n";
    assert!(
        printed.starts_with(first) && printed.ends_with("the publisher closed the stream\n"),
        "{printed}"
    );
    assert_eq!(printed.lines().count(), 11);
}

/// The field of each step of the solver with those arguments. Meanwhile `ask` runs, as long as it likes.
fn fields_of_solver(
    words: &[&str],
    ask: impl FnOnce(&Rendezvous) -> Option<u64> + Send,
) -> (Vec<Vec<f64>>, Option<u64>) {
    let mpi = Mpi::chosen().expect("there is one");
    let sources = ["installed/share/flexpath/fortran/flexpath_mpi.f90", "../../examples/fortran/heat.f90"];
    let (place, heat) = (place(), mpi.compile(&LIBRARY_AND_MODULE, &sources));
    let solver = mpi.start(4, &heat, words, place.path());
    let rendezvous = Rendezvous::at(place.path()).expect("a place");
    let options = SubscriberOptions::default().with_rendezvous(rendezvous.clone());
    let mut reader = Subscriber::open("heat3d", options).expect("attached");
    let mut fields = Vec::new();
    let asked = std::thread::scope(|scope| {
        let (is_done, done) = channel();
        let asking = scope.spawn(move || {
            let asked = ask(&rendezvous);
            is_done.send(()).expect("somebody listens");
            asked
        });
        let mut goes_on = false;
        while let NextStep::Step(step) = reader.next_step(Duration::from_secs(60)).expect("a step") {
            fields.push(step.get::<f64>("temperature", "[...]").expect("the field"));
            // The solver waits for its reader, so that it is not over before somebody has asked.
            goes_on = goes_on || done.recv_timeout(Duration::from_millis(50)).is_ok();
        }
        asking.join().expect("no panic")
    });
    solver.printed();
    (fields, asked)
}

/// What is asked for holds on all ranks from one step on: the run is, to the bit, one that was so planned.
#[test]
fn a_solver_that_is_steered_is_one_that_was_so_planned() {
    if Mpi::chosen().is_none() {
        return;
    }
    let iterations = "2000";
    let (steered, step) = fields_of_solver(&[iterations], |rendezvous| {
        let options = SubscriberOptions::default()
            .with_rendezvous(rendezvous.clone())
            .with_variables(Vec::<String>::new())
            .with_policy(QueuePolicy::DropOldest);
        let mut asker = Subscriber::open("heat3d", options).expect("attached");
        Some(asker.request("conductivity", 1.0, Duration::from_secs(60)).expect("applied").0)
    });
    let step = step.expect("it was asked").to_string();
    let (planned, _) = fields_of_solver(&[iterations, &step, "1.0"], |_| None);
    let (untouched, _) = fields_of_solver(&[iterations], |_| None);
    let bits = |fields: &[Vec<f64>]| -> Vec<Vec<u64>> {
        fields.iter().map(|field| field.iter().map(|cell| cell.to_bits()).collect()).collect()
    };
    assert_eq!((steered.len(), untouched.len()), (101, 101));
    assert!(bits(&steered) == bits(&planned), "steered at step {step}, and it is another run");
    assert!(bits(&steered) != bits(&untouched), "what was asked for has changed nothing");
}

#[test]
fn rust_reads_rows_of_the_solver_under_mpirun() {
    let Some(mpi) = Mpi::chosen() else { return };
    let (place, rows) = (place(), example("heat_rows"));
    let heat = mpi.compile(
        &LIBRARY_AND_MODULE,
        &["installed/share/flexpath/fortran/flexpath_mpi.f90", "../../examples/fortran/heat.f90"],
    );
    let solver = mpi.start(4, &heat, &[], place.path());
    let printed = start(Command::new(rows).env("FLEXPATH_RENDEZVOUS", place.path())).printed();
    solver.printed();
    assert!(printed.starts_with("iteration 0: [0.6596, 0.9874, 0.8186], at most"), "{printed}");
    assert!(printed.ends_with("the publisher closed the stream\n"), "{printed}");
    assert_eq!(printed.lines().count(), 12);
}
