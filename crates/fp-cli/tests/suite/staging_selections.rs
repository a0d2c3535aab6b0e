//! What subscribers of a staged stream select goes up to the publisher, and nobody who is there misses anything by it.

use std::path::Path;
use std::time::Instant;

use crate::forwarding_selections::{NAMES, close, element, has, next, open, put, until_kept};
use crate::kinds::{PATIENCE, eventually, region};
use crate::staging::{attach, interrupt, is_open};
use crate::support::Run;
use fp_core::{Publisher, Selection, Subscriber, VariableSet};

fn start(folder: &Path, options: &[&str]) -> (Run, [Publisher; 2]) {
    let stager = Run::at(folder, &[&["stage", "sim"], options].concat());
    let ranks = open(folder);
    eventually("it is staged", || is_open(folder, "sim-staged"));
    (stager, ranks)
}

fn selecting(folder: &Path, name: &str) -> Subscriber {
    attach(folder, "sim-staged", |options| options.with_variables([name]))
}

/// Publishes until somebody who came has these variables. Those who were there get each step, with what they select.
fn until_had(
    ranks: &mut [Publisher; 2],
    (newcomer, names): (&mut Subscriber, &[&str]),
    there: &mut [(&mut Subscriber, &str)],
) {
    let began = Instant::now();
    loop {
        assert!(began.elapsed() < PATIENCE, "never: a newcomer has {names:?}");
        put(ranks);
        for (subscriber, name) in there.iter_mut() {
            let step = next(subscriber);
            assert!(has(&step, name) && step.skipped() == 0, "step {}", step.step());
        }
        let step = next(newcomer);
        let had: Vec<bool> = names.iter().map(|name| has(&step, name)).collect();
        assert_eq!(step.skipped(), 0);
        if had.iter().all(|had| *had) {
            return;
        }
    }
}

fn are_taken(folder: &Path, options: &[&str]) {
    let (stager, mut ranks) = start(folder, options);
    let mut near = selecting(folder, "near");
    until_kept(&mut ranks, &["near"], &mut [(&mut near, "near")]);
    for _ in 0..4 {
        put(&mut ranks);
        let step = next(&mut near);
        let found: Vec<String> = step.variables().unwrap().into_iter().map(|info| info.def.name).collect();
        assert!(found == ["near"] && has(&step, "near"), "{found:?}");
    }
    let mut far = selecting(folder, "far");
    until_had(&mut ranks, (&mut far, &["far"]), &mut [(&mut near, "near")]);
    until_kept(&mut ranks, &["far", "near"], &mut [(&mut near, "near"), (&mut far, "far")]);
    // Who names none has all of them.
    let mut all = attach(folder, "sim-staged", |one| one);
    until_had(&mut ranks, (&mut all, &NAMES), &mut [(&mut near, "near"), (&mut far, "far")]);
    assert!(ranks.iter().all(|rank| rank.wanted_variables() == VariableSet::All));
    drop((all, far));
    until_kept(&mut ranks, &["near"], &mut [(&mut near, "near")]);
    // And where nobody is there, whoever comes next may want any.
    drop(near);
    let began = Instant::now();
    while ranks.iter().any(|rank| rank.wanted_variables() != VariableSet::All) {
        assert!(began.elapsed() < PATIENCE, "never: all is asked for");
        put(&mut ranks);
    }
    close(ranks);
    let ended = interrupt(stager);
    let told = |what: &str| ended.stderr.contains(&format!(" on {what} is staged, as it is asked for"));
    assert!(
        ["[\"near\"]", "[\"far\", \"near\"]", "all of a step"].into_iter().all(told)
            && ended.stderr.contains("from step "),
        "{}",
        ended.stderr
    );
}

#[test]
fn what_nobody_asks_for_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    are_taken(folder.path(), &["--narrow"]);
    are_taken(folder.path(), &["--narrow", "--memory", "1", "--disk", disk.to_str().unwrap()]);
}

#[test]
fn all_is_taken_unless_another_thing_is_said() {
    for options in [&[][..], &["--reserve", "all"], &["--durable", "--disk"]] {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("disk");
        let disk = options.contains(&"--durable").then(|| disk.to_str().unwrap());
        let (stager, mut ranks) = start(folder.path(), &[options, disk.as_slice()].concat());
        let mut near = selecting(folder.path(), "near");
        for _ in 0..20 {
            put(&mut ranks);
            assert!(has(&next(&mut near), "near"));
            assert!(ranks.iter().all(|rank| rank.wanted_variables() == VariableSet::All), "{options:?}");
        }
        // Who comes later has his variable in each step that he gets.
        let mut late = selecting(folder.path(), "far");
        let ahead = if options.contains(&"--reserve") { 20 } else { 0 };
        (0..ahead).for_each(|_| assert!(has(&next(&mut late), "far")));
        for _ in 0..5 {
            put(&mut ranks);
            assert!(has(&next(&mut late), "far") && has(&next(&mut near), "near"));
        }
        drop((late, near));
        close(ranks);
        interrupt(stager);
    }
}

/// Publishes until all of them have the mean in one step, and that is the same. Each has any region of each step.
fn until_derived(ranks: &mut [Publisher; 2], subscribers: &mut [&mut Subscriber]) {
    const ANOTHER: u64 = 6000;
    let began = Instant::now();
    loop {
        assert!(began.elapsed() < PATIENCE, "never: all have the mean");
        put(ranks);
        let of_one = |subscriber: &mut &mut Subscriber| {
            let step = next(subscriber);
            let one = Selection::Region(region(&[ANOTHER], &[1]));
            assert_eq!(step.get::<f64>("near", one).unwrap(), [element("near", step.step().0, ANOTHER)]);
            // Where there was no time for it, the next step has it.
            step.get::<f64>("mean", Selection::All).ok()
        };
        let means: Vec<_> = subscribers.iter_mut().map(of_one).collect();
        if means.iter().all(Option::is_some) {
            assert!(means.iter().all(|mean| *mean == means[0]), "{means:?}");
            return;
        }
    }
}

/// A region is said by whoever reads it, and what is derived is the stager's to do: neither goes up.
#[test]
fn any_region_is_there_and_the_simulation_derives_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (stager, mut ranks) = start(folder, &["--narrow"]);
    let attach_to = |stream: &str| {
        attach(folder, stream, |options| {
            let first = Selection::Region(region(&[0], &[8]));
            let options = options.with_variables(["near"]).with_selection("near", first);
            options.with_derivation("mean", "near | mean").unwrap()
        })
    };
    // They agree on all of it, and none of them says that it will read anything else.
    let [mut one, mut other] = [(); 2].map(|()| attach_to("sim-staged"));
    until_kept(&mut ranks, &["near"], &mut [(&mut one, "near"), (&mut other, "near")]);
    until_derived(&mut ranks, &mut [&mut one, &mut other]);
    let derived = |ranks: &[Publisher; 2]| ranks.each_ref().map(|rank| rank.statistics().derivations);
    assert_eq!(derived(&ranks), [0, 0]);
    // Who wants it derived there asks there.
    let mut direct = attach_to("sim");
    until_derived(&mut ranks, &mut [&mut one, &mut other, &mut direct]);
    assert!(derived(&ranks).iter().all(|count| *count > 0));
    drop((direct, one, other));
    close(ranks);
    interrupt(stager);
}

/// Who comes late may want anything of what is kept.
#[test]
fn what_is_kept_for_others_is_not_narrowed() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().to_str().unwrap();
    for options in [&["--reserve", "3"][..], &["--per-host", "1"], &["--durable", "--disk", disk]] {
        let ended = Run::at(folder.path(), &[&["stage", "sim", "--narrow"], options].concat()).finish();
        assert!(
            ended.code == Some(2) && ended.stderr.contains("--narrow goes with none"),
            "{}",
            ended.stderr
        );
    }
}
