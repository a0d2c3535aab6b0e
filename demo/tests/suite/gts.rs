//! The particles and their analytics as a user starts them. What was found is what anybody counts who follows all
//! particles alone, to the last bit. Pictures can be read, and whatever happens, nothing is left running.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output};

use crate::demo_run::{DemoRun, have_ended};
use flexpath_demo::gts::axes::{AXES, AXIS_BINS, Axis, BINS, PAIR_BINS, PAIRS, PARTICLE_AXES};
use flexpath_demo::gts::coordinates::MOST_LINES;
use flexpath_demo::gts::found::Found;
use flexpath_demo::gts::grid::{CELLS, Grid, PLANES, owner};
use flexpath_demo::gts::motion::advance;
use flexpath_demo::gts::particle::Particle;
use rustix::process::{Pid, Signal, kill_process};

const SEED: u64 = 5;
/// Selects more particles than are taken, from the first step on.
const THRESHOLD: f64 = 0.005;

fn gts(output: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gts"));
    command.arg("--output").arg(output);
    // What a killed supervisor leaves goes with the folder.
    command.env("TMPDIR", output);
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What was found in a run that must succeed.
fn found(output: &Path, words: &[&str]) -> (Vec<Found>, String) {
    let done = gts(output).args(words).output().expect("starts");
    let said = text(&done);
    assert_eq!(done.status.code(), Some(0), "{said}");
    let lines = BufReader::new(File::open(output.join("steps.jsonl")).expect("written")).lines();
    (lines.map(|line| serde_json::from_str(&line.expect("text")).expect("JSON")).collect(), said)
}

/// All particles of a step, by one who follows them alone: by rank, and on each by label.
fn followed(particles: u64, steps: u64, ranks: u32) -> Vec<Vec<Vec<Particle>>> {
    let mut all: Vec<Particle> = (0..particles).map(|label| Particle::seeded(SEED, label)).collect();
    let of_rank = |all: &[Particle], rank| {
        all.iter().filter(|particle| owner(particle, ranks) == rank).copied().collect()
    };
    let mut found = Vec::new();
    for step in 0..steps {
        if step > 0 {
            all.retain_mut(advance);
        }
        found.push((0..ranks).map(|rank| of_rank(&all, rank)).collect());
    }
    found
}

/// All numbers of a particle, as they stand side by side.
fn row(particle: &Particle) -> [f64; PARTICLE_AXES] {
    let quantities = particle.quantities();
    std::array::from_fn(|index| quantities.get(index).copied().unwrap_or(particle.label as f64))
}

/// The slowest obvious histogram.
fn counted(axis: &Axis, numbers: &[f64]) -> Vec<u64> {
    let mut counts = vec![0; BINS + 3];
    for &number in numbers {
        let place = match number {
            _ if number.is_nan() => BINS + 2,
            _ if number < axis.low => BINS,
            _ if number > axis.high => BINS + 1,
            _ => (((number - axis.low) / (axis.high - axis.low) * BINS as f64) as usize).min(BINS - 1),
        };
        counts[place] += 1;
    }
    counts
}

fn bin(axis: &Axis, number: f64) -> usize {
    let scale = AXIS_BINS as f64 / (axis.high - axis.low);
    ((number - axis.low) * scale).floor().clamp(0.0, AXIS_BINS as f64 - 1.0) as usize
}

/// What must be found in a step.
fn check(found: &Found, ranks: &[Vec<Particle>], at_start: u64) {
    let axes = Axis::all(at_start);
    let all: Vec<Particle> = ranks.concat();
    let rows: Vec<_> = all.iter().map(row).collect();
    assert_eq!(found.held, ranks.iter().map(|rank| rank.len() as u64).collect::<Vec<_>>());
    // Cells are counted in the order of labels, whoever has them.
    let mut by_label = all;
    by_label.sort_by_key(|particle| particle.label);
    let grid = Grid::of(&by_label, &(0..PLANES), at_start);
    let columns = (0..PARTICLE_AXES).map(|index| rows.iter().map(|row| row[index]).collect());
    let columns: Vec<Vec<f64>> = columns.chain([grid.density, grid.flow, grid.energy]).collect();
    assert_eq!((found.histograms.len(), found.between.len()), (AXES, PAIRS));
    for ((axis, column), histogram) in axes.iter().zip(&columns).zip(&found.histograms) {
        assert_eq!(*histogram, counted(axis, column), "step {}: {}", found.number, axis.name);
        let expected = if column.len() == rows.len() { rows.len() as u64 } else { CELLS };
        assert_eq!(histogram.iter().sum::<u64>(), expected);
    }
    for (pair, counts) in found.between.iter().enumerate() {
        let mut expected = vec![0; PAIR_BINS];
        for row in &rows {
            expected[bin(&axes[pair], row[pair]) * AXIS_BINS + bin(&axes[pair + 1], row[pair + 1])] += 1;
        }
        assert_eq!(*counts, expected, "step {}: {} and the next", found.number, axes[pair].name);
    }
    let heavy: Vec<_> = rows.iter().filter(|row| row[5] > THRESHOLD).copied().collect();
    assert_eq!(found.selected, heavy.len() as u64);
    let every = heavy.len().div_ceil(MOST_LINES).max(1);
    assert_eq!(found.lines, heavy.into_iter().step_by(every).collect::<Vec<_>>());
}

/// How many pixels of a picture are not white.
fn inked(path: &Path) -> usize {
    let decoder = png::Decoder::new(BufReader::new(File::open(path).expect("a picture")));
    let mut reader = decoder.read_info().expect("a picture");
    let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
    reader.next_frame(&mut pixels).expect("whole");
    assert!(pixels.len() > 1_000_000, "{} bytes", pixels.len());
    pixels.chunks(3).filter(|pixel| *pixel != [u8::MAX; 3]).count()
}

#[test]
fn what_is_found_is_what_one_counts_who_follows_all_particles() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["--particles=4000", "--steps=5", "--seed=5", "--threshold=0.005"];
    let (steps, said) = found(folder.path(), &words);
    let expected = followed(4000, 5, 4);
    assert_eq!(steps.iter().map(|found| found.number).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    for (found, ranks) in steps.iter().zip(&expected) {
        check(found, ranks, 4000);
    }
    let particles: Vec<u64> = steps.iter().map(|found| found.held.iter().sum()).collect();
    assert!(particles[4] < particles[0], "some meet the wall: {particles:?}");
    assert!(steps[0].selected as usize > MOST_LINES && steps[0].lines.len() <= MOST_LINES);
    assert_eq!(steps[0].arrived, [0; 4]);
    for found in &steps[1..] {
        assert!(found.arrived.iter().all(|arrived| *arrived > 0), "{:?}", found.arrived);
    }
    // In each step ten histograms of 67 counts from each of four ranks, and a little around each.
    let (bins, crossed) =
        (5 * 4 * AXES as u64 * (BINS as u64 + 3) * 8, |found: &Found| found.histogram_bytes);
    let crossed: u64 = steps.iter().map(crossed).sum();
    assert!((bins..bins + bins / 4).contains(&crossed), "{crossed} B, of bins {bins}");
    for found in &steps {
        let particles: u64 = found.held.iter().sum();
        assert_eq!(found.published_bytes, 8 * (PARTICLE_AXES as u64 * particles + 3 * CELLS));
    }
    assert!(said.contains("only counts cross") && !said.contains("FAIL"), "{said}");
    for name in ["histograms.png", "coordinates.png"] {
        assert!(inked(&folder.path().join(name)) > 10_000, "{name}");
    }
}

#[test]
fn ranks_without_particles_and_lone_ranks_do_as_well() {
    let folder = tempfile::tempdir().expect("a folder");
    let seed = format!("--seed={SEED}");
    for (particles, ranks) in [(3u64, 5u32), (200, 1)] {
        let (particles_word, ranks_word) = (format!("--particles={particles}"), format!("--ranks={ranks}"));
        let words = [&particles_word, &ranks_word, &seed, "--steps=2", "--threshold=0.005"];
        let words = [&words[..], &["--histogram-ranks=1", "--coordinate-ranks=1"]].concat();
        let (steps, _) = found(folder.path(), &words);
        for (found, ranks) in steps.iter().zip(&followed(particles, 2, ranks)) {
            check(found, ranks, particles);
        }
        assert_eq!(steps.len(), 2);
    }
}

#[test]
fn help_says_what_there_is_and_nonsense_is_refused() {
    let run = |words: &[&str]| Command::new(env!("CARGO_BIN_EXE_gts")).args(words).output().expect("starts");
    let help = run(&["--help"]);
    let shown = text(&help);
    assert!(help.status.success() && shown.contains("--threshold") && shown.contains("130"), "{shown}");
    let refused = run(&["--ranks", "33"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("33 is not in 1..=32"), "{}", text(&refused));
    let nowhere = run(&["--output", "/dev/null/there"]);
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(text(&nowhere).contains("cannot write to /dev/null/there"), "{}", text(&nowhere));
}

/// A run under way, past its first step.
fn started() -> DemoRun {
    let command = |folder: &Path| {
        let mut command = gts(folder);
        command.args(["--particles=2000", "--steps=100000"]);
        command
    };
    let running = DemoRun::start(command, |line| line.contains("/100000 "));
    assert_eq!(running.parts.len(), 4 + 3 + 2);
    running
}

#[test]
fn an_interrupt_ends_everything_in_order() {
    let running = started();
    kill_process(Pid::from_child(&running.supervisor), Signal::INT).expect("alive");
    let (lines, status, parts) = running.rest();
    assert_eq!(status, Some(130), "{:?}", lines.last());
    assert!(lines.last().is_some_and(|line| line.starts_with("interrupted")));
    assert!(have_ended(&parts, 0), "the supervisor waited for its parts");
}

#[test]
fn a_part_that_dies_ends_the_run_and_is_named_and_parts_end_without_their_supervisor() {
    let running = started();
    let (_, victim, _) = running.parts.iter().find(|(label, ..)| label == "histograms.1").expect("it runs");
    kill_process(*victim, Signal::KILL).expect("alive");
    let (lines, status, parts) = running.rest();
    assert_eq!(status, Some(1));
    let failures: Vec<&String> = lines.iter().filter(|line| line.contains("FAIL")).collect();
    assert!(failures.len() == 1 && failures[0].contains("histograms."), "{failures:?}");
    assert!(have_ended(&parts, 0));
    let mut running = started();
    running.supervisor.kill().expect("alive");
    let (_, _, parts) = running.rest();
    assert!(have_ended(&parts, 20));
}
