//! What the parts tell the supervisor, as lines of JSON on their standard output.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::part::Part;

/// Who says what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The part's name.
    pub part: String,
    /// The rank in it.
    pub rank: u32,
    /// When, in milliseconds of the machine's clock. So what was first is known, whatever way the lines took.
    pub at_ms: u64,
    /// What it says.
    pub report: Report,
}

/// What a rank of a part has to say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// What runs: `LAMMPS 29 Sep 2021`.
    Source {
        /// Its name.
        name: String,
    },
    /// A step was published; told by rank 0.
    Published(Published),
    /// A step was taken.
    Taken(Taken),
    /// A stream was attached to.
    Attached {
        /// The stream.
        stream: String,
    },
    /// The links over which a rank takes a stream, when they are new.
    Edges(Edges),
    /// The atoms that one rank of the simulation held, over the whole run.
    Owned(Owned),
    /// A stream was closed by its publisher.
    Closed(Closed),
    /// A stream was left, or its end was reached, by a subscriber.
    Left(Left),
    /// A step was held against LAMMPS.
    Compared(Compared),
    /// Answers that are the same for every atom were held against LAMMPS, on the last compared step.
    Constants {
        /// How many.
        tried: usize,
        /// How many the check refused.
        refused: usize,
    },
    /// Energies were held against LAMMPS's log, all steps together.
    Energies(Energies),
    /// A picture was drawn.
    Picture {
        /// Where it is.
        path: PathBuf,
        /// The step that it shows.
        time_step: i64,
    },
    /// Somebody asked the simulation for another speed, and this rank has it from this step on.
    Asked(Asked),
    /// How high the body is in a compared step: from the lowest atom to the highest.
    Height {
        /// The time step.
        time_step: i64,
        /// In sigma.
        height: f64,
    },
    /// The publisher would not wait any longer for this subscriber.
    Detached {
        /// Steps that it held.
        held: usize,
        /// How long the publisher waited, in milliseconds.
        waited_ms: u64,
        /// In words.
        reason: String,
    },
    /// How CSym took the bonds, by type and by hand.
    ByType(ByType),
    /// What the transform took in a process of Bonds.
    Transformed(Transformed),
    /// What a measured run has found, all steps together.
    Tallied(Tallied),
    /// The part could not go on.
    Failed {
        /// Why.
        what: String,
    },
}

/// A step that was published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// The stream.
    pub stream: String,
    /// The simulation's time step.
    pub time_step: i64,
    /// Who is attached, by name, with how many steps wait for it or are held by it.
    pub attached: Vec<(String, usize)>,
}

/// A step that was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// The stream.
    pub stream: String,
    /// The simulation's time step.
    pub time_step: i64,
    /// Bytes that this rank has taken of the stream, all steps together.
    pub bytes: u64,
}

/// The links of one subscriber rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edges {
    /// The stream.
    pub stream: String,
    /// For each rank of its publisher that the subscriber is linked to: what the link runs over, and why nothing better.
    pub links: Vec<(u32, String)>,
}

/// What one rank of the simulation held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Owned {
    /// The fewest own atoms in any step.
    pub fewest: usize,
    /// The most.
    pub most: usize,
    /// Bytes of all variables that it put.
    pub put_bytes: u64,
    /// Bytes of them that were kept for anybody.
    pub kept_bytes: u64,
    /// Steps in which somebody wanted the velocities.
    pub velocity_steps: u64,
}

/// The end of a publisher rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    /// The stream.
    pub stream: String,
    /// Steps that it ended.
    pub steps: u64,
    /// The longest that it waited to begin a step, in milliseconds.
    pub longest_wait_ms: f64,
    /// All these waits together, in milliseconds.
    pub waited_ms: f64,
    /// From opening to closing, in milliseconds.
    pub ran_ms: f64,
    /// The time of all its puts and ends of steps, the waits left out, in milliseconds.
    pub io_ms: f64,
    /// Bytes of all variables that it put.
    pub put_bytes: u64,
    /// Bytes of them that were kept for anybody; with files, all.
    pub kept_bytes: u64,
}

/// The end of a subscriber rank.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Left {
    /// The stream.
    pub stream: String,
    /// Steps that it took.
    pub steps: u64,
    /// Steps that it did not get between the first and the last.
    pub skipped: u64,
    /// Bytes that it took.
    pub bytes: u64,
    /// The first and the last time step that it took.
    pub between: Option<(i64, i64)>,
    /// The time in which it took lists out of steps and released them, in milliseconds.
    pub io_ms: f64,
    /// The time in which it waited for steps, in milliseconds.
    pub waited_ms: f64,
}

/// What a measured run has found. Two runs of the same simulation must agree in every number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tallied {
    /// Steps that CSym judged.
    pub steps: u64,
    /// Atoms in the last of them.
    pub atoms: i64,
    /// Bonds, over all steps.
    pub bonds: i64,
    /// Torn atoms, over all steps.
    pub torn_atoms: i64,
    /// The first torn time step.
    pub torn_at: Option<i64>,
    /// Central symmetry of all atoms, over all steps.
    pub symmetry_sum: f64,
    /// Steps that CNA worked.
    pub classified_steps: u64,
    /// Atoms in each class, over these steps.
    pub census: [u64; 5],
    /// A number that every id, symmetry and class goes into, in order and to the last bit.
    pub digest: u64,
}

/// How CSym took the bonds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ByType {
    /// Which way the transform leads, in words.
    pub path: String,
    /// By way, as [`super::by_type::Way::ALL`] has them.
    pub taken: [Taking; 3],
    /// Steps that were taken all ways.
    pub compared: u64,
    /// Those of them in which the graphs differ.
    pub unequal: u64,
}

/// What one way to the graph of bonds took, all its steps together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Taking {
    /// Steps taken so.
    pub steps: u64,
    /// The time from asking to having the graph, in milliseconds.
    pub millis: f64,
    /// Bytes that crossed for it.
    pub bytes: u64,
    /// The transform, wherever it ran.
    pub transformed: Transformed,
}

impl Taking {
    /// Milliseconds and megabytes of a step, on average.
    pub fn mean(&self) -> (f64, f64) {
        let steps = self.steps.max(1) as f64;
        (self.millis / steps, self.bytes as f64 / 1e6 / steps)
    }
}

/// The calls of a transform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transformed {
    /// How many; of several processes all together.
    pub calls: u64,
    /// How long they took together, in milliseconds.
    pub millis: f64,
}

impl Transformed {
    /// Milliseconds of a call, on average.
    pub fn mean(&self) -> f64 {
        self.millis / self.calls.max(1) as f64
    }
}

/// What a rank of the simulation was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The time step from which it counts.
    pub time_step: i64,
    /// How fast each held edge moves, in sigma/tau.
    pub speed: f64,
}

/// How one step compares with LAMMPS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The time step.
    pub time_step: i64,
    /// Atoms compared: all.
    pub atoms: usize,
    /// Atoms that differ where a tie lets both be right.
    pub tied: usize,
    /// Atoms that are wrong.
    pub wrong: usize,
    /// Whether the check holds on this step.
    pub holds: bool,
    /// What was compared, and what else was seen.
    pub finding: Finding,
}

/// What was compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Central symmetry: the largest difference without a tie.
    Symmetry {
        /// In squared lengths.
        worst_difference: f64,
    },
    /// Structure classes, by LAMMPS.
    Classes {
        /// Atoms in each class.
        census: [usize; 5],
        /// Atoms in another class than at the start.
        changed: usize,
        /// Whether that is enough for equality to mean something.
        telling: bool,
    },
}

/// How the energies compare with LAMMPS's log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energies {
    /// Steps of the log.
    pub steps: usize,
    /// Those of them for which no energy came.
    pub missing: usize,
    /// The largest difference of the others, in epsilon.
    pub worst_difference: f64,
    /// Whether the check holds.
    pub holds: bool,
    /// Answers that are the same for every step: how many were tried.
    pub constants: usize,
    /// How many of those the check refused.
    pub refused: usize,
}

/// Tell the supervisor. A line is one write, so that lines of several ranks do not mix.
pub fn say(part: Part, rank: u32, report: Report) {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let at_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    let line = Line { part: part.name().to_owned(), rank, at_ms, report };
    // All that is told can be written as JSON, and where nobody listens any more nothing is lost.
    let Ok(mut text) = serde_json::to_string(&line) else { return };
    text.push('\n');
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// What was told in a line of output. It is nothing where the line is something else, and several reports where a
/// launcher joined lines.
pub fn heard(text: &str) -> Vec<Line> {
    serde_json::Deserializer::from_str(text).into_iter().map_while(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_through_alone_and_joined() {
        let line = |rank| Line {
            part: Part::Check.name().to_owned(),
            rank,
            at_ms: 77,
            report: Report::Compared(Compared {
                time_step: 250,
                atoms: 12,
                tied: 1,
                wrong: 0,
                holds: true,
                finding: Finding::Classes { census: [9, 0, 0, 0, 3], changed: 2, telling: true },
            }),
        };
        let text = |rank| serde_json::to_string(&line(rank)).expect("JSON");
        assert_eq!(heard(&text(0)), [line(0)]);
        assert_eq!(heard(&format!("{}{}", text(0), text(1))), [line(0), line(1)]);
        assert_eq!(heard("WARNING: something of the launcher"), []);
    }
}
