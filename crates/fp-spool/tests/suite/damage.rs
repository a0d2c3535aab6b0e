//! Bytes that were cut, changed, or are none of ours: steps before stay, and what is wrong is said.

use crate::given::{file, read, step, stored, written};
use fp_spool::{Damage, SpoolError};

#[test]
fn a_file_cut_anywhere_has_the_steps_before() {
    let steps = [step(0), step(1)];
    let bytes = written(&steps);
    let first = written(&steps[..1]).len();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("spool");
    for len in 0..bytes.len() {
        let spool = file(&path, &bytes[..len]);
        let whole = usize::from(len >= first);
        let found: Vec<_> = stored(&spool).into_iter().map(|step| step.expect("whole")).collect();
        assert_eq!(found, steps[..whole], "cut at {len}");
        let torn = spool.torn().map(|torn| torn.offset);
        let expected = (len != 0 && len != first).then_some(whole as u64 * first as u64);
        assert_eq!(torn, expected, "cut at {len}");
        let (streamed, error) = read(&bytes[..len]);
        assert_eq!(streamed, steps[..whole], "cut at {len}");
        assert_eq!(error.is_some(), expected.is_some(), "cut at {len}: {error:?}");
    }
}

#[test]
fn a_bit_that_turned_is_found_and_the_steps_before_are_read() {
    let steps = [step(0), step(1)];
    let bytes = written(&steps);
    let first = written(&steps[..1]).len();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("spool");
    let mut harmless = 0;
    // One of each byte, so that each of the eight is drawn.
    for at in 0..bytes.len() {
        let mut turned = bytes.clone();
        turned[at] ^= 1 << (at % 7 + at / 64 % 2);
        let spool = file(&path, &turned);
        let found = stored(&spool);
        let whole =
            found.iter().zip(&steps).take_while(|(found, step)| found.as_ref().ok() == Some(step)).count();
        let is_found = found.len() < 2 || found.iter().any(Result::is_err);
        // Gaps mean nothing.
        harmless += usize::from(!is_found);
        assert!(is_found || whole == 2, "byte {at}: other steps are read");
        assert!(whole >= usize::from(at >= first), "byte {at}: a step before is not read");
        assert_eq!(read(&turned).1.is_some(), is_found, "byte {at}");
    }
    assert!(harmless < bytes.len() / 2, "{harmless} of {} bytes are gaps", bytes.len());
}

#[test]
fn what_is_wrong_is_said() {
    let bytes = written(&[step(0)]);
    let of = |bytes: &[u8]| read(bytes).1.map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(of(b"PK\x03\x04 is something else, and long enough"), "at byte 0: no step record begins here");
    assert_eq!(of(&bytes[..10]), "at byte 0: it ends in the midst of a header");
    let end = bytes.len() - 64;
    assert_eq!(of(&bytes[..end]), format!("at byte {end}: it ends in the midst of a step"));
    let mut newer = bytes.clone();
    newer[4] = 2;
    let sum = crc32c::crc32c(&newer[..28]);
    newer[28..32].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(of(&newer), "at byte 0: it is of version 2 of the format, and this program reads version 1");
    let error = read(&newer).1.expect("another version");
    assert!(matches!(error, SpoolError::Damaged { damage: Damage::Version { found: 2, known: 1 }, .. }));
}

#[test]
fn noise_never_panics_nor_takes_memory() {
    let bytes = written(&[step(0)]);
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..2000 {
        let mut noise = bytes.clone();
        for _ in 0..3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (state >> 33) as usize % noise.len();
            noise[at] = (state >> 24) as u8;
        }
        // Headers are valid again, so that what they say is looked at.
        for at in (0..noise.len()).step_by(64).filter(|at| bytes[*at..*at + 4] == *b"FPSR") {
            let sum = crc32c::crc32c(&noise[at..at + 28]);
            noise[at + 28..at + 32].copy_from_slice(&sum.to_le_bytes());
        }
        read(&noise);
    }
}
