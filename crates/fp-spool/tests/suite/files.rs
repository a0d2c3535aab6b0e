//! Files that are written to: one writer, no half steps, and nothing of others overwritten.

use crate::given::{Step, file, step, stored, written};
use fp_spool::{Spool, SpoolError};
use std::path::Path;

fn write(spool: &mut Spool, step: &Step) -> Result<(), SpoolError> {
    spool.write(&step.head, |record| {
        step.blocks.iter().try_for_each(|(head, bytes)| record.block(head, bytes))
    })?;
    Ok(())
}

fn steps(path: &Path) -> Vec<Step> {
    let spool = Spool::open(path).expect("a file");
    assert_eq!(spool.torn(), None);
    stored(&spool).into_iter().map(|step| step.expect("whole")).collect()
}

#[test]
fn steps_are_appended_behind_the_last_whole_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("spool");
    let mut spool = Spool::append(&path).expect("a new file");
    write(&mut spool, &step(0)).expect("written");
    write(&mut spool, &step(1)).expect("written");
    spool.sync().expect("synced");
    assert_eq!(stored(&spool).len(), 2);
    drop(spool);
    assert_eq!(std::fs::read(&path).expect("a file"), written(&[step(0), step(1)]));
    // Its writer was killed in the midst of the second step.
    let torn = file(&path, &written(&[step(0), step(1)])[..written(&[step(0)]).len() + 900]);
    assert_eq!((torn.entries().len(), torn.torn().is_some()), (1, true));
    let mut spool = Spool::append(&path).expect("what is whole");
    write(&mut spool, &step(2)).expect("written");
    assert_eq!(steps(&path), [step(0), step(2)]);
}

#[test]
fn a_step_that_fails_leaves_the_file_as_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("spool");
    let mut spool = Spool::append(&path).expect("a new file");
    write(&mut spool, &step(0)).expect("written");
    let failed: Result<_, SpoolError> = spool.write(&step(1).head, |record| {
        let (head, bytes) = &step(1).blocks[0];
        record.block(head, bytes)?;
        Err(SpoolError::Unkept { step: step(1).head.step, why: "it fails".to_owned() })
    });
    failed.expect_err("it fails");
    assert_eq!(std::fs::read(&path).expect("a file"), written(&[step(0)]));
    write(&mut spool, &step(2)).expect("written");
    assert_eq!(steps(&path), [step(0), step(2)]);
}

#[test]
fn a_file_has_one_writer_and_many_readers() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("spool");
    let mut first = Spool::append(&path).expect("a new file");
    write(&mut first, &step(0)).expect("written");
    let error = Spool::append(&path).err().expect("another writes");
    assert!(error.to_string().ends_with("spool: another process writes to it"), "{error}");
    assert_eq!(steps(&path), [step(0)]);
    drop(first);
    Spool::append(&path).expect("nobody writes");
}

#[test]
fn a_file_that_is_none_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("letter.txt");
    for text in [&b"Dear reader, this is no step record, and it should not be cut."[..], b"hello\n"] {
        std::fs::write(&path, text).expect("a file");
        let error = Spool::append(&path).err().expect("something else");
        assert_eq!(error.to_string(), format!("{}: at byte 0: no step record begins here", path.display()));
        assert_eq!(std::fs::read(&path).expect("a file"), text);
    }
    // Steps behind damage may be whole: nothing is cut off.
    let mut bytes = written(&[step(0), step(1), step(2)]);
    let second = written(&[step(0)]).len();
    bytes[second + 40] ^= 1;
    std::fs::write(&path, &bytes).expect("a file");
    let error = Spool::append(&path).err().expect("damage").to_string();
    assert!(error.contains(&format!("letter.txt: at byte {second}: the checksum of ")), "{error}");
    assert_eq!(std::fs::read(&path).expect("a file"), bytes);
    let spool = Spool::open(&path).expect("a file");
    assert!(spool.entries().len() == 1 && spool.torn().is_some_and(|torn| !torn.is_unfinished()));
    let error = Spool::open(folder.path().join("nowhere")).err().expect("no file");
    assert!(error.to_string().contains("nowhere: it cannot be opened: No such file"), "{error}");
}
