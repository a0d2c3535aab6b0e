//! What crosses between `flexpath forward` and `flexpath gate`: counted on the way.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::forwarding::{forward, gate};
use crate::kinds::{publish, region};
use crate::staging::{all_of, attach, interrupt, publisher_options, put_steps, take};
use crate::support::{Ended, Run};
use crate::wire::Wire;
use fp_core::connection::{Connection, Incoming};
use fp_core::{BlockId, Compression, Dtype, Epoch, Publisher, Rank, StartAt, StepId, Variable, VariableDef};
use fp_spool::{BlockHead, OpenRecord, StepHead, StepVariable};

/// Bytes of a step of `put_steps`.
const STEP_BYTES: u64 = 64 << 10;

fn well(run: Run) -> Ended {
    let ended = run.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended
}

#[test]
fn what_is_compressed_is_what_was_published() {
    const STEPS: u64 = 3;
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let direct = publish(inside.path().to_owned(), STEPS);
    let expected = all_of(inside.path(), "run", STEPS, |options| options.with_start_at(StartAt::Next));
    direct.into_iter().for_each(|rank| rank.join().unwrap());
    for compress in ["--compress", "--compress=lz4", "--compress=pco"] {
        let (gate, address) = gate(outside.path(), &["--subscribers", "1", "--once"]);
        let forward = Run::at(inside.path(), &["forward", "run", "--to", &address, "--once", compress]);
        let direct = publish(inside.path().to_owned(), STEPS);
        assert_eq!(all_of(outside.path(), "run", STEPS, |options| options), expected, "{compress}");
        direct.into_iter().for_each(|rank| rank.join().unwrap());
        well(forward);
        well(gate);
    }
}

/// Brings so many steps over a wire: how many bytes crossed, and what `forward` said at the end.
fn crossed(inside: &Path, outside: &Path, steps: u64, options: &[&str]) -> (u64, String) {
    let (gate, address) = gate(outside, &["--subscribers", "1", "--once"]);
    let wire = Wire::to(&address);
    let forward = forward(inside, &wire.address(), &[&["--once"], options].concat());
    let mut publisher = Publisher::open("sim", publisher_options(inside)).unwrap();
    let closing = thread::spawn(move || {
        put_steps(&mut publisher, steps);
        publisher.close().expect("all of it was taken");
    });
    let mut subscriber = attach(outside, "sim", |one| one);
    let seen: Vec<u64> = std::iter::from_fn(|| take(&mut subscriber)).collect();
    assert_eq!(seen, (0..steps).collect::<Vec<_>>());
    closing.join().unwrap();
    let ended = well(forward);
    well(gate);
    (wire.carried(), ended.stderr)
}

#[test]
fn what_is_compressed_crosses_in_fewer_bytes() {
    const STEPS: u64 = 32;
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (plain, said) = crossed(inside.path(), outside.path(), STEPS, &[]);
    assert!((STEPS * STEP_BYTES..STEPS * STEP_BYTES * 11 / 10).contains(&plain), "{plain}");
    assert!(said.contains("32 steps sent: 2.0 MiB of data, 2.0 MiB crossed; 32 taken"), "{said}");
    for compress in ["--compress", "--compress=pco"] {
        let (fewer, said) = crossed(inside.path(), outside.path(), STEPS, &[compress]);
        println!("{compress}: {fewer} bytes of {plain}");
        assert!(fewer * 2 < plain, "{compress}: {fewer} of {plain}");
        assert!(said.contains("32 steps sent: 2.0 MiB of data, 0."), "{said}");
    }
}

/// As data, they would take two minutes.
#[test]
fn a_rate_counts_bytes_on_the_way() {
    const STEPS: u64 = 32;
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (gate, address) = gate(outside.path(), &["--subscribers", "1", "--once"]);
    let options = ["--once", "--compress", "--rate", "64K"];
    let began = Instant::now();
    let forward = forward(inside.path(), &address, &options);
    let mut publisher = Publisher::open("sim", publisher_options(inside.path())).unwrap();
    let mut subscriber = attach(outside.path(), "sim", |one| one);
    let zeros = Variable::global::<f64>("zeros", &[4 * STEP_BYTES / 8]).unwrap();
    let closing = thread::spawn(move || {
        for _ in 0..STEPS {
            let mut writer = publisher.begin_step().unwrap();
            let all = region(&[0], &[4 * STEP_BYTES / 8]);
            writer.put(&zeros, &all, vec![0.0; 4 * STEP_BYTES as usize / 8]).unwrap();
            writer.end().unwrap();
        }
        publisher.close().expect("all of it was taken");
    });
    let mut next = || subscriber.next_step(crate::kinds::PATIENCE).unwrap();
    let taken = std::iter::from_fn(|| matches!(next(), fp_core::NextStep::Step(_)).then_some(())).count();
    assert_eq!(taken as u64, STEPS);
    closing.join().unwrap();
    well(forward);
    well(gate);
    assert!(began.elapsed() < Duration::from_secs(100), "{:?}", began.elapsed());
}

/// A step of one block that says that it is so many bytes.
fn step_that_claims(claimed: u64) -> Vec<u8> {
    let def = VariableDef::local_array("T", Dtype::F64, 1);
    let mut packed = Compression::Lz4.compress(def.dtype, &[0; 800]).unwrap();
    packed[2..10].copy_from_slice(&claimed.to_le_bytes());
    let head = StepHead {
        stream: "sim".to_owned(),
        epoch: Epoch(0xab),
        step: StepId(0),
        taken: Duration::ZERO,
        variables: vec![StepVariable { def, shape: None }],
        records: Vec::new(),
    };
    let mut record = Vec::new();
    let mut open = OpenRecord::begin(&mut record, &head).unwrap();
    let block = BlockHead { variable: 0, block: BlockId::new(Rank(0), 0), region: region(&[0], &[100]) };
    open.block(&block, &packed).unwrap();
    open.end().unwrap();
    record
}

#[test]
fn a_block_that_claims_more_than_its_elements_is_refused_by_name() {
    use std::io::Write as _;
    let outside = tempfile::tempdir().unwrap();
    let (gate, address) = gate(outside.path(), &[]);
    for claimed in [801, 1 << 40, u64::MAX] {
        let connection = Connection::dial(&address, None, None).unwrap();
        let told = |note: &str| connection.tell(note.as_bytes()).unwrap();
        let note = || match connection.incoming().unwrap() {
            Some(Incoming::Note(note)) => String::from_utf8(note).unwrap(),
            other => panic!("no note: {other:?}"),
        };
        told(r#"{"offer":{"version":2,"stream":"sim","forward":"f","subscribers":0}}"#);
        assert!(note().starts_with("{\"welcome\""));
        told("\"compressed\"");
        told(r#"{"opening":{"next":{"epoch":"000000000000000000000000000000ab","step":0},"ranks":1}}"#);
        (&connection).write_all(&step_that_claims(claimed)).unwrap();
        (&connection).flush().unwrap();
        let refused = std::iter::repeat_with(note).find(|note| note.starts_with("{\"refused\"")).unwrap();
        let named = format!(r#"variable \"T\": a block says that it takes {claimed} bytes, and"#);
        assert!(refused.contains("step 0, rank 0, ") && refused.contains(&named), "{refused}");
        assert!(refused.ends_with(r#" its elements take 800","again":false}}"#), "{refused}");
    }
    interrupt(gate);
}
