//! What a run has shown: each check with its numbers.

use std::time::Duration;

use super::super::part::Part;
use super::super::report::{Compared, Finding as Kind};
use super::super::settings::{Settings, SourceKind};
use super::super::streams::ATOMS;
use super::Screen;
use super::board::Board;
use super::children::Process;
use crate::cna::Structure;
use crate::problem::Problem;

/// Whether a check holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It could not be made here.
    NotChecked,
}

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Whether it holds.
    pub standing: Standing,
    /// What was checked.
    pub what: &'static str,
    /// What was found.
    pub numbers: String,
}

impl Finding {
    /// A finding.
    pub fn new(standing: Standing, what: &'static str, numbers: String) -> Self {
        Finding { standing, what, numbers }
    }

    fn of(holds: bool, what: &'static str, numbers: String) -> Self {
        Finding::new(if holds { Standing::Holds } else { Standing::Fails }, what, numbers)
    }
}

/// Everything that is checked of a run that came to its end.
pub(super) fn findings(
    settings: &Settings,
    board: &Board,
    processes: &[Process],
    left_behind: usize,
    took: Duration,
) -> Vec<Finding> {
    let mut found = vec![
        ended(processes, left_behind, took),
        complete(settings, board),
        changing(board),
        selective(board),
        undelayed(settings, board),
        torn(board),
        called(settings, board),
    ];
    found.extend(compared(settings, board));
    found
}

fn ended(processes: &[Process], left_behind: usize, took: Duration) -> Finding {
    let good = processes.iter().filter(|process| process.status.is_some_and(|status| status.success())).count();
    let numbers = format!(
        "{good} of {} in {:.1} s; {left_behind} entries left in the rendezvous",
        processes.len(),
        took.as_secs_f64()
    );
    Finding::of(good == processes.len() && left_behind == 0, "every process ended well", numbers)
}

/// Nothing that was published was lost on the way to the verdict.
fn complete(settings: &Settings, board: &Board) -> Finding {
    let expected = settings.published_steps();
    let published: Vec<u64> = board
        .closed
        .iter()
        .filter(|(_, closed)| closed.stream == ATOMS)
        .map(|(_, closed)| closed.steps)
        .collect();
    // Check takes one step in so many and passes over the others by its own choice.
    let lossless = board.left.iter().filter(|((part, _), _)| part != Part::Check.name());
    let skipped: u64 = lossless.map(|(_, left)| left.skipped).sum();
    let judged = board.judged.len() as u64;
    let in_order = board.judged.windows(2).all(|two| two[0].time_step < two[1].time_step);
    let all_published =
        published.len() == settings.ranks as usize && published.iter().all(|steps| *steps == expected);
    let numbers =
        format!("{published:?} steps published by the ranks, {judged} judged in order, {skipped} skipped");
    Finding::of(all_published && judged == expected && in_order && skipped == 0, "no step was lost", numbers)
}

/// The arrays that travel differ from rank to rank and from step to step.
fn changing(board: &Board) -> Finding {
    let fewest = board.owned.iter().map(|owned| owned.fewest).min().unwrap_or(0);
    let most = board.owned.iter().map(|owned| owned.most).max().unwrap_or(0);
    let bonds = || board.judged.iter().map(|judged| judged.bonds);
    let (least, largest) = (bonds().min().unwrap_or(0), bonds().max().unwrap_or(0));
    let rank_by_rank: Vec<String> =
        board.owned.iter().map(|owned| format!("{}-{}", owned.fewest, owned.most)).collect();
    let numbers =
        format!("atoms of each rank {}; bonds {least} to {largest}", rank_by_rank.join(", "));
    Finding::of(fewest < most && least < largest, "sizes change all the time", numbers)
}

/// What nobody asked for was not even kept.
fn selective(board: &Board) -> Finding {
    let put: u64 = board.owned.iter().map(|owned| owned.put_bytes).sum();
    let kept: u64 = board.owned.iter().map(|owned| owned.kept_bytes).sum();
    let steps: u64 = board.owned.iter().map(|owned| owned.velocity_steps).sum();
    let numbers = format!(
        "{:.1} MB put, {:.1} MB kept; velocities wanted in {steps} steps",
        put as f64 / 1e6,
        kept as f64 / 1e6
    );
    Finding::of(steps == 0 && kept > 0 && kept < put, "what nobody asks for is not kept", numbers)
}

/// The simulation never waited longer than its owner allowed.
fn undelayed(settings: &Settings, board: &Board) -> Finding {
    let closed: Vec<_> =
        board.closed.iter().filter(|(_, closed)| closed.stream == ATOMS).map(|(_, closed)| closed).collect();
    let longest = closed.iter().map(|closed| closed.longest_wait_ms).fold(0.0, f64::max);
    let share = closed.iter().map(|closed| closed.waited_ms / closed.ran_ms.max(1.0)).fold(0.0, f64::max);
    let numbers = format!(
        "longest wait {longest:.1} ms of {} ms allowed; {:.1} % of the run at most on any rank",
        settings.max_wait_ms,
        100.0 * share
    );
    Finding::of(
        !closed.is_empty() && longest <= settings.max_wait_ms as f64,
        "the simulation is not held up",
        numbers,
    )
}

fn torn(board: &Board) -> Finding {
    let whole_at_first = board.judged.first().is_some_and(|judged| !judged.torn);
    let torn = board.judged.iter().find(|judged| judged.torn);
    let numbers = match torn {
        Some(judged) => {
            format!("whole at first; torn at step {}: {} of {} atoms", judged.time_step, judged.torn_atoms, judged.atoms)
        }
        None => "never torn".to_owned(),
    };
    Finding::of(whole_at_first && torn.is_some(), "CSym's verdict", numbers)
}

/// CNA came on the verdict and went again, both in the middle of the simulation's run.
fn called(settings: &Settings, board: &Board) -> Finding {
    let what = "CNA attached to the live stream and left it";
    let (Some(came), Some(went)) = (board.cna_came_ms, board.cna_went_ms) else {
        return Finding::of(false, what, "it did not come, or did not leave".to_owned());
    };
    let before = board.simulated.iter().filter(|(_, at_ms)| *at_ms < came).count();
    let after = board.simulated.iter().filter(|(_, at_ms)| *at_ms > went).count();
    let (first, last) = (board.cna_took.first().copied(), board.cna_took.last().copied());
    let torn = board.judged.iter().find(|judged| judged.torn).map(|judged| judged.time_step);
    let works = board.cna_took.len() as u64;
    let held = works == settings.cna_steps()
        && before > 0
        && after > 0
        && first > torn
        && !board.bonds_to_cna.is_empty()
        && board.bonds_to_cna.first() > board.judged.first().map(|judged| judged.time_step).as_ref();
    let step = |step: Option<i64>| step.map_or("none".to_owned(), |step| step.to_string());
    let numbers = format!(
        "worked {works} steps, {} to {}; the simulation published {before} steps before it came, {after} after it left",
        step(first),
        step(last)
    );
    Finding::of(held, what, numbers)
}

/// The science, held against LAMMPS.
fn compared(settings: &Settings, board: &Board) -> Vec<Finding> {
    let (what, constant) = match settings.problem {
        Problem::Crack => ("central symmetry is LAMMPS's, atom by atom", "a constant central symmetry does not pass"),
        Problem::Notch => ("classes are LAMMPS's, atom by atom", "a constant class does not pass"),
    };
    if settings.source == SourceKind::BuiltIn {
        let why = || "the built-in source has no analysis of its own".to_owned();
        return [what, constant].map(|what| Finding::new(Standing::NotChecked, what, why())).to_vec();
    }
    let (tried, refused) = board.constants.unwrap_or_default();
    let constants = format!("{refused} of {tried} refused on the last compared step");
    let mut found = vec![
        match settings.problem {
            Problem::Crack => symmetry(settings, board, what),
            Problem::Notch => classes(board, what),
        },
        Finding::of(tried > 0 && tried == refused, constant, constants),
    ];
    if settings.problem == Problem::Notch {
        found.push(picture(board));
    }
    found
}

fn symmetry(settings: &Settings, board: &Board, what: &'static str) -> Finding {
    let expected = settings.run_config().steps / settings.run_config().compare_every + 1;
    let worst = board.compared.iter().map(|compared| match compared.finding {
        Kind::Symmetry { worst_difference } => worst_difference,
        Kind::Classes { .. } => f64::NAN,
    });
    let worst = worst.fold(0.0, f64::max);
    let (atoms, tied, wrong) = sums(&board.compared);
    let numbers = format!(
        "{} steps, {atoms} values: {wrong} wrong, {tied} at a tie, largest difference {worst:.1e} (allowed 1e-9)",
        board.compared.len()
    );
    let all_hold = board.compared.iter().all(|compared| compared.holds);
    Finding::of(all_hold && board.compared.len() as u64 == expected, what, numbers)
}

fn classes(board: &Board, what: &'static str) -> Finding {
    let (atoms, tied, wrong) = sums(&board.compared);
    let telling: Vec<&Compared> = board
        .compared
        .iter()
        .filter(|compared| matches!(compared.finding, Kind::Classes { telling: true, .. }))
        .collect();
    let numbers = format!(
        "{} steps, {atoms} classes: {wrong} wrong, {tied} at a tie; {} steps tell something{}",
        board.compared.len(),
        telling.len(),
        telling.last().map(|compared| describe(compared)).unwrap_or_default()
    );
    let holds = wrong == 0 && !telling.is_empty() && telling.iter().all(|compared| compared.holds);
    Finding::of(holds, what, numbers)
}

fn describe(compared: &Compared) -> String {
    let Kind::Classes { census, changed, .. } = compared.finding else { return String::new() };
    let share = |count: usize| 100.0 * count as f64 / compared.atoms.max(1) as f64;
    let counted = Structure::ALL.iter().zip(census).filter(|(_, count)| *count > 0);
    let classes: Vec<String> =
        counted.map(|(class, count)| format!("{} {:.1} %", class.name(), share(count))).collect();
    format!(
        ", the last of them step {}: {}; {:.1} % changed class since the start",
        compared.time_step,
        classes.join(", "),
        share(changed)
    )
}

fn sums(compared: &[Compared]) -> (usize, usize, usize) {
    let sum = |count: fn(&Compared) -> usize| compared.iter().map(count).sum();
    (sum(|compared| compared.atoms), sum(|compared| compared.tied), sum(|compared| compared.wrong))
}

fn picture(board: &Board) -> Finding {
    let found = board.picture.as_ref().map(|(path, time_step)| (path.as_path(), time_step, path.metadata()));
    let (holds, numbers) = match found {
        Some((path, time_step, Ok(file))) => {
            (file.len() > 0, format!("{} ({} bytes): step {time_step}, coloured by class", path.display(), file.len()))
        }
        Some((path, _, Err(error))) => (false, format!("{}: {error}", path.display())),
        None => (false, "none was drawn".to_owned()),
    };
    Finding::of(holds, "the picture", numbers)
}

/// The result of all runs, for people.
pub(super) fn summary(runs: &[(Problem, Vec<Finding>)], screen: &mut Screen) {
    for (problem, findings) in runs {
        screen.line("");
        screen.line(&format!("== summary: {}", problem.name()));
        for Finding { standing, what, numbers } in findings {
            let word = match standing {
                Standing::Holds => "PASS",
                Standing::Fails => "FAIL",
                Standing::NotChecked => "----",
            };
            screen.line(&format!("  {word}  {what}: {numbers}"));
        }
    }
}
