//! Writes what the targets begin with: `seeds unfold FOLDER` as files, one folder a target, `seeds keep FOLDER` as lines
//! of digits. Every seed must be believed by a reader.

use flexpath_fuzz::seeds::{Seed, TARGETS, Target};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["keep", folder] => TARGETS.iter().for_each(|target| keep(target, Path::new(folder))),
        ["unfold", folder, kept] => {
            TARGETS.iter().for_each(|target| unfold(target, Path::new(folder), Path::new(kept)));
        }
        _ => {
            eprintln!("usage: seeds keep SEEDS | seeds unfold FOLDER SEEDS");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The file with the seeds of a target that are made here.
fn file(target: &Target, folder: &Path) -> std::path::PathBuf {
    folder.join(format!("{}.txt", target.name))
}

fn keep(target: &Target, folder: &Path) {
    let lines =
        (target.made)().iter().map(|(name, bytes)| format!("{name} {}\n", hex(bytes))).collect::<String>();
    if !lines.is_empty() {
        fs::write(file(target, folder), lines).expect("the seeds are written");
    }
}

/// Every seed as a file, after a reader believed it.
fn unfold(target: &Target, folder: &Path, kept: &Path) {
    let kept = fs::read_to_string(file(target, kept)).unwrap_or_default();
    let seeds: Vec<Seed> = target.golden.lines().chain(kept.lines()).map(seed).collect();
    let folder = folder.join(target.name);
    fs::create_dir_all(&folder).expect("a folder for the seeds");
    for (at, (name, bytes)) in seeds.iter().enumerate() {
        assert!(
            (target.check)(bytes) > 0,
            "{}: no reader believes the seed {name}, line {}",
            target.name,
            at + 1
        );
        fs::write(folder.join(format!("seed-{at}")), bytes).expect("a seed is written");
    }
    println!("{}: {} seeds", target.name, seeds.len());
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A name and digits.
fn seed(line: &str) -> Seed {
    let (name, digits) = line.split_once(' ').expect("a name and digits");
    let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("two digits");
    (name.to_owned(), (0..digits.len()).step_by(2).map(byte).collect())
}
