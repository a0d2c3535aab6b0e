//! What is derived of LAMMPS's atoms, spread over several ranks, is what its own text dump of the same step says.
//!
//! A binary of its own with one test, as MPI starts in the process, and wants one thread.
//! Where LAMMPS is not installed it says so and passes, unless `FLEXPATH_REQUIRE_LAMMPS` is set.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use common::small_sheet;
use flexpath::{
    Cohort, NextStep, Publisher, PublisherOptions, Rendezvous, Selection, StepReader, Subscriber,
    SubscriberOptions, Variable,
};
use flexpath_demo::lammps::{Lammps, Snapshot, check_installed};

const STREAM: &str = "atoms";
const RANKS: usize = 3;
const ROUNDS: usize = 3;

/// How long everything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Ids and velocities of the atoms of one rank.
type Atoms = (Vec<i64>, Vec<[f64; 3]>);

/// Publishes what comes, as one rank.
fn publisher(options: PublisherOptions, rank: usize) -> (Sender<Atoms>, JoinHandle<()>) {
    let (to, atoms): (Sender<Atoms>, Receiver<Atoms>) = channel();
    let cohort = Cohort::of(rank as u32, RANKS as u32).expect("a cohort");
    let options = options.with_cohort(cohort).with_min_subscribers(1).with_derive_budget(PATIENCE);
    let run = move || {
        let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
        let id = Variable::joined::<i64>("id", &[]).expect("a name");
        let v = Variable::joined::<f64>("v", &[3]).expect("a name");
        while let Ok((ids, velocities)) = atoms.recv() {
            let mut writer = publisher.begin_step().expect("a step");
            writer.put_joined(&id, ids).expect("put");
            writer.put_joined(&v, velocities.into_flattened()).expect("put");
            writer.end().expect("ended");
        }
        publisher.close().expect("closed");
    };
    (to, std::thread::spawn(run))
}

/// The components of each atom's velocity, as LAMMPS wrote them: numbers with all their digits.
fn read_dump(path: &Path) -> BTreeMap<i64, [f64; 3]> {
    let text = std::fs::read_to_string(path).expect("LAMMPS wrote it");
    let atoms = text.lines().skip_while(|line| !line.starts_with("ITEM: ATOMS id vx vy vz")).skip(1);
    let atom = |line: &str| {
        let mut words = line.split_whitespace();
        let id = words.next().expect("an id").parse().expect("a number");
        (id, [(); 3].map(|()| words.next().expect("a component").parse().expect("a number")))
    };
    atoms.map(atom).collect()
}

fn check(step: &StepReader, dump: &BTreeMap<i64, [f64; 3]>) {
    let all = || dump.values().flatten().map(|component| component.abs());
    let greatest = all().fold(0.0, f64::max);
    assert!(greatest > 0.0 && dump.len() > 300);
    assert_eq!(step.get::<f64>("fastest", Selection::All).expect("fastest"), [greatest], "to the last bit");
    let place = step.get::<u64>("where.index", Selection::All).expect("where")[0];
    let ids = step.get::<i64>("id", Selection::All).expect("ids");
    let at = dump[&ids[(place / 3) as usize]][(place % 3) as usize];
    assert_eq!(
        (at.abs(), step.get::<f64>("where.value", Selection::All).expect("where")),
        (greatest, vec![greatest])
    );
    let count = all().filter(|component| *component > greatest / 2.0).count() as u64;
    let halves = step.get::<f64>("size", Selection::All).expect("sizes");
    assert_eq!(halves.iter().filter(|size| **size > greatest / 2.0).count() as u64, count);
}

/// The atoms as LAMMPS has them now, dealt to ranks: the counts differ from rank to rank and from step to step.
fn dealt(lammps: &mut Lammps, round: usize) -> Vec<Atoms> {
    let mut dealt: Vec<Atoms> = vec![Atoms::default(); RANKS];
    let mut look = |snapshot: &mut Snapshot<'_>| {
        let atoms = snapshot.ids().expect("ids").into_iter().zip(snapshot.velocities().expect("velocities"));
        for (at, (id, velocity)) in atoms.enumerate() {
            let (ids, velocities) = &mut dealt[at * (round + 7) / 5 % RANKS];
            ids.push(id);
            velocities.push(velocity);
        }
    };
    lammps.run(0, 1, &mut look).expect("runs");
    dealt
}

#[test]
fn the_greatest_of_lammps_velocities_is_that_of_its_dump() {
    if let Err(error) = check_installed() {
        assert!(std::env::var_os("FLEXPATH_REQUIRE_LAMMPS").is_none(), "{error}");
        eprintln!("not run: {error}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let rendezvous = Rendezvous::at(folder.path()).expect("a rendezvous");
    let options = || PublisherOptions::default().with_rendezvous(rendezvous.clone());
    let publishers: Vec<_> = (0..RANKS).map(|rank| publisher(options(), rank)).collect();
    let asked = SubscriberOptions::default()
        .with_rendezvous(rendezvous.clone())
        .with_derivation("fastest", "v | compute(abs(v)) | max")
        .and_then(|options| options.with_derivation("where", "v | compute(abs(v)) | argmax"))
        .and_then(|options| options.with_derivation("size", "v | compute(abs(v))"));
    let mut subscriber =
        Subscriber::open(STREAM, asked.expect("derivations").with_variables(["id"])).expect("attached");
    let mut lammps = small_sheet();
    for round in 0..ROUNDS {
        lammps.command("run 40 post no").expect("runs");
        let atoms = dealt(&mut lammps, round);
        let path = folder.path().join(format!("{round}.dump"));
        let dump = format!("write_dump all custom {} id vx vy vz modify format float %.17g", path.display());
        lammps.command(&dump).expect("written");
        publishers.iter().zip(atoms).for_each(|((to, _), atoms)| to.send(atoms).expect("a publisher"));
        let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step") else { panic!("no step") };
        check(&step, &read_dump(&path));
    }
    for (to, thread) in publishers {
        drop(to);
        thread.join().expect("published");
    }
    subscriber.close().expect("closed");
    lammps.finish();
}
