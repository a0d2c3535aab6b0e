//! C and Fortran programs under `mpirun`: cohorts from communicators, over a staged installation.

use crate::support::{LIBRARY, LIBRARY_AND_MODULE, Mpi, TestProcess, place, printed};
use fp_core::{NextStep, QueuePolicy, Rendezvous, Subscriber, SubscriberOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn streams(mpi: &Mpi, publishers: u32, subscribers: u32) {
    let (program, place) = (mpi.compile(&LIBRARY, &["tests/mpi/stream.c"]), place());
    let publish = mpi.start(publishers, &program, &["publish", "7"], place.path());
    let subscribe = mpi.start(subscribers, &program, &["subscribe", "7"], place.path());
    assert_eq!(subscribe.printed(), "subscribe: all as expected\n");
    assert_eq!(publish.printed(), "publish: all as expected\n");
    let left = std::fs::read_dir(place.path()).expect("the place is there").count();
    assert_eq!(left, 0, "nothing is left in the rendezvous");
}

#[test]
fn four_ranks_publish_to_two() {
    if let Some(mpi) = Mpi::chosen() {
        streams(&mpi, 4, 2);
    }
}

/// The tree of 18 ranks has two levels.
#[test]
fn eighteen_ranks_publish_to_one() {
    if let Some(mpi) = Mpi::chosen() {
        streams(&mpi, 18, 1);
    }
}

#[test]
fn both_sides_in_one_run_on_communicators_of_their_own() {
    let Some(mpi) = Mpi::chosen() else { return };
    let (program, place) = (mpi.compile(&LIBRARY, &["tests/mpi/stream.c"]), place());
    let both = mpi.start(5, &program, &["both", "4"], place.path());
    assert_eq!(both.printed(), "both: all as expected\n");
}

#[test]
fn all_ranks_are_told_that_one_cannot_open() {
    let Some(mpi) = Mpi::chosen() else { return };
    let (program, place) = (mpi.compile(&LIBRARY, &["tests/mpi/stream.c"]), place());
    let run = mpi.start(3, &program, &["decline", "0"], place.path());
    assert_eq!(run.printed(), "decline: all as expected\n");
}

#[test]
fn fortran_makes_a_cohort_of_both_kinds_of_communicator() {
    let Some(mpi) = Mpi::chosen() else { return };
    let sources = ["installed/share/flexpath/fortran/flexpath_mpi.f90", "tests/mpi/cohort.f90"];
    let (program, place) = (mpi.compile(&LIBRARY, &sources), place());
    let run = mpi.start(3, &program, &[], place.path());
    assert_eq!(run.printed().trim(), "all as expected");
}

#[test]
fn cpp_makes_a_cohort_of_a_communicator() {
    let Some(mpi) = Mpi::chosen() else { return };
    let (program, place) = (mpi.compile(&LIBRARY, &["tests/mpi/cohort.cpp"]), place());
    let run = mpi.start(3, &program, &[], place.path());
    assert_eq!(run.printed().trim(), "all as expected");
}

#[test]
fn the_library_itself_links_no_mpi() {
    let library = LIBRARY.prefix().join("lib/libflexpath.so");
    let output = Command::new("nm").args(["-D", "--undefined-only"]).arg(&library).output().expect("nm runs");
    let undefined = printed(output);
    assert!(undefined.lines().any(|line| line.contains("malloc")), "{undefined}");
    assert!(undefined.lines().all(|line| !line.to_lowercase().contains("mpi_")), "{undefined}");
}

/// The two codes of the examples, which need each other's field in every step.
struct Coupled {
    mpi: Mpi,
    in_c: PathBuf,
    in_fortran: PathBuf,
}

impl Coupled {
    fn new() -> Option<Self> {
        let mpi = Mpi::chosen()?;
        let in_c = mpi.compile(&LIBRARY, &["../../examples/c/coupled.c"]);
        let sources =
            ["installed/share/flexpath/fortran/flexpath_mpi.f90", "../../examples/fortran/coupled.f90"];
        let in_fortran = mpi.compile(&LIBRARY_AND_MODULE, &sources);
        Some(Self { mpi, in_c, in_fortran })
    }

    fn air(&self, ranks: u32, program: &Path, steps: &str, place: &Path) -> TestProcess {
        self.mpi.start(ranks, program, &["air", "sea", steps], place)
    }
}

#[test]
fn two_codes_take_each_others_steps() {
    let Some(coupled) = Coupled::new() else { return };
    let Coupled { in_c, in_fortran, .. } = &coupled;
    for (air, sea) in [(in_c, in_c), (in_c, in_fortran), (in_fortran, in_fortran)] {
        let place = place();
        let air = coupled.air(2, air, "100", place.path());
        let sea = coupled.mpi.start(3, sea, &["sea", "air", "100"], place.path());
        assert_eq!(air.printed().trim(), "air: 100 steps with sea, as calculated");
        assert_eq!(sea.printed().trim(), "sea: 100 steps with air, as calculated");
    }
}

/// Who is slow holds up the other, and nothing else happens.
#[test]
fn a_code_waits_for_a_slow_partner() {
    let Some(coupled) = Coupled::new() else { return };
    for (fast, slow) in [(&coupled.in_fortran, &coupled.in_c), (&coupled.in_c, &coupled.in_fortran)] {
        let (place, began) = (place(), Instant::now());
        let air = coupled.air(1, fast, "50", place.path());
        let sea = coupled.mpi.start(2, slow, &["sea", "air", "50", "20"], place.path());
        assert_eq!(air.printed().trim(), "air: 50 steps with sea, as calculated");
        assert!(began.elapsed() >= 49 * Duration::from_millis(20), "nobody was slow: {:?}", began.elapsed());
        assert_eq!(sea.printed().trim(), "sea: 50 steps with air, as calculated");
    }
}

/// Looks on until the codes have taken some steps of each other.
fn run_for_a_while(place: &Path) {
    let options = SubscriberOptions::default()
        .with_rendezvous(Rendezvous::at(place).expect("a place"))
        .with_policy(QueuePolicy::LatestOnly);
    let mut onlooker = Subscriber::open("air", options).expect("attached");
    let mut step = || {
        let NextStep::Step(step) = onlooker.next_step(Duration::from_secs(60)).expect("a step") else {
            panic!("the codes have ended")
        };
        step.step().0
    };
    let (first, mut last) = (step(), 0);
    while last < first + 20 {
        last = step();
    }
}

/// Each step waits for the partner's; a partner that dies ends it, with words.
#[test]
fn a_code_whose_partner_dies_ends_with_words() {
    let Some(coupled) = Coupled::new() else { return };
    for survivor in [&coupled.in_c, &coupled.in_fortran] {
        let (place, steps) = (place(), "1000000000");
        let air = coupled.air(2, survivor, steps, place.path());
        let mut sea = coupled.mpi.start(2, &coupled.in_c, &["sea", "air", steps], place.path());
        run_for_a_while(place.path());
        // The launcher takes its ranks with it.
        sea.signal("-TERM");
        let ended = air.output();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success() && said.contains("air: no step"), "{said}");
    }
}

/// The processes that run a program at a place: those of one code, without its launcher.
fn ranks_of(program: &Path, place: &Path) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("proc is there").flatten();
    let is_rank = |pid: &String| {
        // A process may have ended meanwhile.
        let read = |file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let (words, settings) = (read("cmdline"), read("environ"));
        let settings = String::from_utf8_lossy(&settings).into_owned();
        let runs = words.split(|byte| *byte == 0).next() == Some(program.as_os_str().as_encoded_bytes());
        runs && settings.contains(&format!("FLEXPATH_RENDEZVOUS={}\0", place.display()))
            && String::from_utf8_lossy(&words).contains("\0air\0sea\0")
    };
    let numbers = processes.map(|process| process.file_name().to_string_lossy().into_owned());
    numbers.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).filter(is_rank).collect()
}

/// One rank of a code is killed. The other code is told so, says it, and does not wait for steps that never come.
#[test]
fn a_code_of_which_one_rank_is_killed_holds_up_nobody() {
    let Some(coupled) = Coupled::new() else { return };
    let Coupled { in_c, in_fortran, .. } = &coupled;
    for (dying, survivor, killed) in [(in_c, in_fortran, 0), (in_fortran, in_c, 1)] {
        let (place, steps) = (place(), "1000000000");
        let air = coupled.air(2, dying, steps, place.path());
        let sea = coupled.mpi.start(3, survivor, &["sea", "air", steps], place.path());
        run_for_a_while(place.path());
        let mut ranks = ranks_of(dying, place.path());
        ranks.sort_by_key(|pid| pid.parse::<u32>().expect("a number"));
        assert_eq!(ranks.len(), 2, "{ranks:?}");
        let (sent, at) = (Command::new("kill").args(["-KILL", &ranks[killed]]).status(), Instant::now());
        assert!(sent.expect("kill runs").success());
        let ended = sea.output();
        let (said, took) = (String::from_utf8_lossy(&ended.stderr).into_owned(), at.elapsed());
        assert!(!ended.status.success() && said.contains("sea: no step"), "{said}");
        // The launcher kills the other rank soon.
        assert!((0..2).any(|rank| said.contains(&format!("publisher rank {rank} is lost"))), "{said}");
        // Far less than the minute for which a code waits for a step.
        assert!(took < Duration::from_secs(20), "it took {took:?}");
        assert!(!air.output().status.success());
    }
}
