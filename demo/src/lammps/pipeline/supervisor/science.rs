//! What a run has shown of the science: results against LAMMPS's own.

use super::super::report::{Compared, Finding};
use super::super::settings::{Settings, SourceKind};
use super::board::Board;
use crate::lammps::problem::Problem;
use crate::lammps::science::check::ENERGY_ALLOWED;
use crate::lammps::science::cna::Structure;
use crate::shared::check_result::{CheckResult, CheckStatus};

/// The science, held against LAMMPS.
pub(super) fn compared(settings: &Settings, board: &Board) -> Vec<CheckResult> {
    let (what, constant) = match settings.problem {
        Problem::Crack => {
            ("central symmetry is LAMMPS's, atom by atom", "a constant central symmetry does not pass")
        }
        Problem::Notch => ("classes are LAMMPS's, atom by atom", "a constant class does not pass"),
    };
    if settings.source == SourceKind::BuiltIn {
        let why = || "the built-in source has no analysis of its own".to_owned();
        return [what, constant].map(|what| CheckResult::new(CheckStatus::NotChecked, what, why())).to_vec();
    }
    let (tried, refused) = board.constants.unwrap_or_default();
    let constants = format!("{refused} of {tried} refused on the last compared step");
    vec![
        match settings.problem {
            Problem::Crack => symmetry(settings, board, what),
            Problem::Notch => classes(board, what),
        },
        CheckResult::of(tried > 0 && tried == refused, constant, constants),
    ]
}

fn symmetry(settings: &Settings, board: &Board, what: &'static str) -> CheckResult {
    let expected = settings.run_config().steps / settings.run_config().compare_every + 1;
    let worst = board.compared.iter().map(|compared| match compared.finding {
        Finding::Symmetry { worst_difference } => worst_difference,
        Finding::Classes { .. } => f64::NAN,
    });
    let worst = worst.fold(0.0, f64::max);
    let (atoms, tied, wrong) = sums(&board.compared);
    let numbers = format!(
        "{} steps, {atoms} values: {wrong} wrong, {tied} at a tie, largest difference {worst:.1e} (allowed 1e-9)",
        board.compared.len()
    );
    let all_hold = board.compared.iter().all(|compared| compared.holds);
    CheckResult::of(all_hold && board.compared.len() as u64 == expected, what, numbers)
}

fn classes(board: &Board, what: &'static str) -> CheckResult {
    let (atoms, tied, wrong) = sums(&board.compared);
    let telling: Vec<&Compared> = board
        .compared
        .iter()
        .filter(|compared| matches!(compared.finding, Finding::Classes { telling: true, .. }))
        .collect();
    let numbers = format!(
        "{} steps, {atoms} classes: {wrong} wrong, {tied} at a tie; {} steps tell something{}",
        board.compared.len(),
        telling.len(),
        telling.last().map(|compared| describe(compared)).unwrap_or_default()
    );
    let holds = wrong == 0 && !telling.is_empty() && telling.iter().all(|compared| compared.holds);
    CheckResult::of(holds, what, numbers)
}

fn describe(compared: &Compared) -> String {
    let Finding::Classes { census, changed, .. } = compared.finding else { return String::new() };
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

/// What the part in Python found.
pub(super) fn energies(settings: &Settings, board: &Board) -> CheckResult {
    let what = "the energy that Python finds is LAMMPS's";
    let not_checked = |why: &str| CheckResult::new(CheckStatus::NotChecked, what, why.to_owned());
    if settings.python.is_none() {
        return not_checked("no interpreter was named (--python)");
    }
    if settings.source == SourceKind::BuiltIn {
        return not_checked("the built-in source writes no log");
    }
    let Some(found) = board.energies else {
        return CheckResult::of(false, what, "nothing was compared".to_owned());
    };
    let numbers = format!(
        "{} steps of its log, {} missing, largest difference {:.1e} (allowed {ENERGY_ALLOWED:.0e}); {} of {} constants \
         refused",
        found.steps, found.missing, found.worst_difference, found.refused, found.constants
    );
    let holds = found.holds && found.constants > 0 && found.refused == found.constants;
    CheckResult::of(holds, what, numbers)
}

pub(super) fn picture(board: &Board) -> CheckResult {
    let found = board.picture.as_ref().map(|(path, time_step)| (path.as_path(), time_step, path.metadata()));
    let (holds, numbers) = match found {
        Some((path, time_step, Ok(file))) => (
            file.len() > 0,
            format!("{}: step {time_step}; fcc blue, hcp orange, other grey", path.display()),
        ),
        Some((path, _, Err(error))) => (false, format!("{}: {error}", path.display())),
        None => (false, "none was drawn".to_owned()),
    };
    CheckResult::of(holds, "the picture", numbers)
}
