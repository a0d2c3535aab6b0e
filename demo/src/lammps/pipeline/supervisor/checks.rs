//! What a run has shown: each check with its numbers.

use std::time::Duration;

use super::super::by_type::Way;
use super::super::guest::ALLOWED_MS;
use super::super::part::Part;
use super::super::settings::Settings;
use super::super::streams::ATOMS;
use super::board::Board;
use super::children::Process;
use super::notice::Judged;
use super::science::{compared, energies, picture};
use super::steering::steered;
use crate::lammps::problem::Problem;
use crate::shared::check_result::CheckResult;
use crate::shared::screen::Screen;

/// Everything that is checked of a run that came to its end.
pub(super) fn check(
    settings: &Settings,
    board: &Board,
    processes: &[Process],
    left_behind: usize,
    took: Duration,
) -> Vec<CheckResult> {
    let mut found = vec![
        ended(processes, left_behind, took),
        complete(settings, board),
        changing(board),
        selective(board),
        undelayed(settings, board),
        linked(board),
        by_type(board),
        torn(board),
        called(settings, board),
        steered(settings, board),
    ];
    found.extend(compared(settings, board));
    found.push(energies(settings, board));
    found.extend((settings.problem == Problem::Notch).then(|| picture(board)));
    found
}

fn ended(processes: &[Process], left_behind: usize, took: Duration) -> CheckResult {
    let good =
        processes.iter().filter(|process| process.status.is_some_and(|status| status.success())).count();
    let numbers = format!(
        "{good} of {} in {:.1} s; {left_behind} entries left in the rendezvous",
        processes.len(),
        took.as_secs_f64()
    );
    CheckResult::of(good == processes.len() && left_behind == 0, "every process ended well", numbers)
}

/// Nothing that was published was lost on the way to the verdict.
fn complete(settings: &Settings, board: &Board) -> CheckResult {
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
    CheckResult::of(
        all_published && judged == expected && in_order && skipped == 0,
        "no step was lost",
        numbers,
    )
}

/// The arrays that travel differ from rank to rank and from step to step.
fn changing(board: &Board) -> CheckResult {
    let owned = || board.owned.values();
    let by_step = owned().any(|owned| owned.fewest < owned.most);
    let by_rank = owned().any(|one| owned().any(|other| one.most != other.most));
    let bonds = || board.judged.iter().map(|judged| judged.bonds);
    let (least, largest) = (bonds().min().unwrap_or(0), bonds().max().unwrap_or(0));
    let ranges: Vec<String> = owned().map(|owned| format!("{}-{}", owned.fewest, owned.most)).collect();
    let numbers = format!("atoms of each rank {}; bonds {least} to {largest}", ranges.join(", "));
    CheckResult::of(by_step && by_rank && least < largest, "sizes change all the time", numbers)
}

/// What nobody asked for was not even kept.
fn selective(board: &Board) -> CheckResult {
    let put: u64 = board.owned.values().map(|owned| owned.put_bytes).sum();
    let kept: u64 = board.owned.values().map(|owned| owned.kept_bytes).sum();
    let steps: u64 = board.owned.values().map(|owned| owned.velocity_steps).sum();
    let numbers = format!(
        "{:.1} MB put, {:.1} MB kept; velocities wanted in {steps} steps",
        put as f64 / 1e6,
        kept as f64 / 1e6
    );
    CheckResult::of(steps == 0 && kept > 0 && kept < put, "what nobody asks for is not kept", numbers)
}

/// CSym took bonds by type, through a transform on either side, and by hand; whenever it did all they were the same.
fn by_type(board: &Board) -> CheckResult {
    let told = board.bonds_taken().unwrap_or_default();
    let each = |way: Way| {
        let taking = told.taken[way as usize];
        let (millis, megabytes) = taking.mean();
        format!("{} steps, {millis:.2} ms and {megabytes:.2} MB each", taking.steps)
    };
    let mean = |way: Way| told.taken[way as usize].transformed.mean();
    let numbers = format!(
        "by {}: {}, the transform {:.2} ms; the same by Bonds: {}, the transform {:.2} ms on each rank; by hand: {}; \
         {} of {} taken all ways differ",
        told.path.lines().next().unwrap_or("nothing"),
        each(Way::Subscriber),
        mean(Way::Subscriber),
        each(Way::Publisher),
        mean(Way::Publisher),
        each(Way::Hand),
        told.unequal,
        told.compared
    );
    let steps = told.taken.iter().map(|taking| taking.steps);
    let all_ways = steps.clone().all(|steps| steps > 0);
    let every_step = steps.sum::<u64>().checked_sub(2 * told.compared) == Some(board.judged.len() as u64);
    let crossed = told.taken.iter().all(|taking| taking.bytes > 0) && board.sent.calls > 0;
    let holds = all_ways && every_step && crossed && told.compared > 0 && told.unequal == 0;
    CheckResult::of(holds, "bonds by type are those by hand", numbers)
}

/// The simulation never waited longer than its owner allowed, and went on without the one that made it wait.
fn undelayed(settings: &Settings, board: &Board) -> CheckResult {
    let closed: Vec<_> =
        board.closed.iter().filter(|(_, closed)| closed.stream == ATOMS).map(|(_, closed)| closed).collect();
    let longest = closed.iter().map(|closed| closed.longest_wait_ms).fold(0.0, f64::max);
    let share = closed.iter().map(|closed| closed.waited_ms / closed.ran_ms.max(1.0)).fold(0.0, f64::max);
    let guest = match board.detached {
        Some((held, waited_ms)) => format!(
            "the guest held {held} steps and was detached after {waited_ms} ms ({ALLOWED_MS} allowed)"
        ),
        None => "the guest was not detached".to_owned(),
    };
    let numbers = format!(
        "{guest}; longest wait of any rank for anybody {longest:.1} ms ({} allowed), {:.1} % of the run together",
        settings.max_wait_ms,
        100.0 * share
    );
    let in_bounds = longest <= settings.max_wait_ms as f64;
    let holds = !closed.is_empty()
        && in_bounds
        && board.detached.is_some_and(|(_, waited_ms)| waited_ms >= ALLOWED_MS);
    CheckResult::of(holds, "the simulation is not held up", numbers)
}

/// What the links run over; a check only in so far as there are any.
fn linked(board: &Board) -> CheckResult {
    let kinds: Vec<String> =
        board.transports().into_iter().map(|(text, count)| format!("{count} {text}")).collect();
    CheckResult::of(!kinds.is_empty(), "links", kinds.join("; "))
}

fn torn(board: &Board) -> CheckResult {
    let whole_at_first = board.judged.first().is_some_and(|judged| !judged.torn);
    let torn = board.judged.iter().find(|judged| judged.torn);
    let numbers = match torn {
        Some(judged) => {
            format!(
                "whole at first; torn at step {}: {} of {} atoms",
                judged.time_step, judged.torn_atoms, judged.atoms
            )
        }
        None => "never torn".to_owned(),
    };
    CheckResult::of(whole_at_first && torn.is_some(), "CSym's verdict", numbers)
}

/// CNA came on the verdict and went again, both in the middle of the simulation's run.
fn called(settings: &Settings, board: &Board) -> CheckResult {
    let what = "CNA attached to the live stream and left it";
    let (Some(came), Some(went)) = (board.cna_came_ms, board.cna_went_ms) else {
        return CheckResult::of(false, what, "it did not come, or did not leave".to_owned());
    };
    let before = board.simulated.iter().filter(|(_, at_ms)| *at_ms < came).count();
    let after = board.simulated.iter().filter(|(_, at_ms)| *at_ms > went).count();
    let (first, last) = (board.cna_took.first().copied(), board.cna_took.last().copied());
    let works = board.cna_took.len() as u64;
    let holds = works == settings.cna_steps()
        && before > 0
        && after > 0
        && first > board.torn_at()
        && is_guest_of_bonds(board);
    let step = |step: Option<i64>| step.map_or("none".to_owned(), |step| step.to_string());
    let numbers = format!(
        "worked {works} steps, {} to {}; the simulation published {before} steps before it came, {after} after it left",
        step(first),
        step(last)
    );
    CheckResult::of(holds, what, numbers)
}

/// Whether the publisher of the bonds had CNA attached for a while, and neither at first nor at last.
fn is_guest_of_bonds(board: &Board) -> bool {
    let time_step = |judged: Option<&Judged>| judged.map(|judged| judged.time_step);
    let (first, last) = (time_step(board.judged.first()), time_step(board.judged.last()));
    let there = || board.bonds_to_cna.iter().copied();
    there().next() > first && there().next_back().is_some_and(|step| Some(step) < last)
}

/// The result of all runs, for people.
pub(super) fn summary(runs: &[(Problem, Vec<CheckResult>)], screen: &mut Screen) {
    for (problem, results) in runs {
        screen.line("");
        screen.line(&format!("== summary: {}", problem.name()));
        results.iter().for_each(|result| screen.line(&result.line()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::part_step::Coupling;
    use super::super::super::report::{
        ByType, Closed, Compared, Energies, Finding, Left, Owned, Taking, Transformed,
    };
    use super::super::super::settings::{BondsBy, Size, SourceKind};
    use super::*;
    use crate::shared::check_result::CheckStatus;

    fn settings(problem: Problem) -> Settings {
        let (size, source) = (Size::Short, SourceKind::Lammps);
        Settings {
            problem,
            size,
            source,
            ranks: 2,
            max_wait_ms: 1_000,
            output: "nowhere".into(),
            coupling: Coupling::Streams,
            measured: false,
            bonds: BondsBy::Turns,
            patience_ms: 61_000,
            address: None,
            python: Some("python3".into()),
        }
    }

    /// A run in which all went well: torn at the tenth step, CNA there from the twelfth on.
    fn good(settings: &Settings) -> Board {
        let mut board = Board::default();
        let (steps, every) = (settings.published_steps() as i64, 100);
        for step in 0..steps {
            let torn = step >= 10;
            let torn_atoms = 3 * i64::from(torn);
            let judged = Judged { time_step: every * step, torn, torn_atoms, atoms: 90, bonds: 300 - step };
            board.judged.push(judged);
            board.simulated.push((every * step, 1_000 + step as u64));
        }
        for rank in 0..settings.ranks {
            let who = ("simulation".to_owned(), rank);
            let (stream, steps) = ("atoms".to_owned(), steps as u64);
            let closed = Closed {
                stream,
                steps,
                longest_wait_ms: 260.0,
                waited_ms: 300.0,
                ran_ms: 9e3,
                ..Closed::default()
            };
            board.closed.push((who, closed));
            let most = 50 + rank as usize;
            let owned = Owned { fewest: 40, most, put_bytes: 900, kept_bytes: 600, velocity_steps: 0 };
            board.owned.insert(rank, owned);
        }
        let left = Left { stream: "bonds".to_owned(), steps: 9, bytes: 77, ..Left::default() };
        board.left.push((("csym".to_owned(), 0), left));
        board.cna_took = (12..12 + settings.cna_steps() as i64).map(|step| every * step).collect();
        board.bonds_to_cna = board.cna_took.clone();
        (board.cna_came_ms, board.cna_went_ms) = (Some(1_011), Some(1_025));
        super::super::steering::samples::fill(settings, &mut board);
        board.detached = Some((2, ALLOWED_MS));
        let link = ("atoms".to_owned(), ("helper".to_owned(), 0), 0);
        board.links.insert(link, "transport=shm; inproc refused: other process".to_owned());
        board.constants = Some((3, 3));
        let (steps, worst_difference) = (13, 4e-8);
        let found = Energies { steps, missing: 0, worst_difference, holds: true, constants: 3, refused: 3 };
        board.energies = Some(found);
        let [compared, all] = [4, board.judged.len() as u64];
        let transformed = Transformed { calls: 20, millis: 7.0 };
        let way = |steps| Taking { steps, millis: 9.0, bytes: 77, transformed };
        let taken = [way(20 + compared), way(15 + compared), way(all - 35)];
        let path = "BondPair -> BondAdjacency".to_owned();
        board.by_type = Some(ByType { path, taken, compared, unequal: 0 });
        board.sent = transformed;
        board
    }

    fn compared(time_step: i64, wrong: usize, finding: Finding) -> Compared {
        let telling = !matches!(finding, Finding::Classes { telling: false, .. });
        Compared { time_step, atoms: 90, tied: 0, wrong, holds: wrong == 0 && telling, finding }
    }

    fn good_crack() -> (Settings, Board) {
        let settings = settings(Problem::Crack);
        let mut board = good(&settings);
        let every = settings.run_config().compare_every as i64;
        let compared = |step| compared(every * step, 0, Finding::Symmetry { worst_difference: 1e-13 });
        let steps = settings.run_config().steps as i64 / every;
        board.compared = (0..=steps).map(compared).collect();
        (settings, board)
    }

    fn failing(settings: &Settings, board: &Board) -> Vec<&'static str> {
        let found = check(settings, board, &[], 0, Duration::from_secs(1));
        let fails = |result: &CheckResult| result.status == CheckStatus::Fails;
        found.iter().filter(|result| fails(result)).map(|result| result.what).collect()
    }

    /// What fails when one thing is other than it should be.
    fn broken(change: impl FnOnce(&mut Board)) -> Vec<&'static str> {
        let (settings, mut board) = good_crack();
        change(&mut board);
        failing(&settings, &board)
    }

    #[test]
    fn a_good_run_holds() {
        assert_eq!(broken(|_| ()), Vec::<&str>::new());
    }

    #[test]
    fn each_check_can_fail() {
        assert_eq!(broken(|board| board.by_type = None), ["bonds by type are those by hand"]);
        for change in [
            (|found| found.unequal = 1) as fn(&mut ByType),
            |found| found.compared = 0,
            |found| found.taken[0].steps -= 1,
            |found| found.taken[1].bytes = 0,
        ] {
            let broken = broken(|board| board.by_type.iter_mut().for_each(change));
            assert_eq!(broken, ["bonds by type are those by hand"]);
        }
        let lost = ["no step was lost", "bonds by type are those by hand"];
        assert_eq!(broken(|board| board.judged.truncate(60)), lost);
        assert_eq!(broken(|board| board.judged.swap(3, 4)), ["no step was lost"]);
        assert_eq!(broken(|board| board.closed[1].1.steps -= 1), ["no step was lost"]);
        assert_eq!(broken(|board| board.left[0].1.skipped = 1), ["no step was lost"]);
        let same = |board: &mut Board| board.judged.iter_mut().for_each(|judged| judged.bonds = 300);
        assert_eq!(broken(same), ["sizes change all the time"]);
        let same = |board: &mut Board| board.owned.values_mut().for_each(|owned| owned.fewest = owned.most);
        assert_eq!(broken(same), ["sizes change all the time"]);
        let same = |board: &mut Board| board.owned.values_mut().for_each(|owned| owned.most = 50);
        assert_eq!(broken(same), ["sizes change all the time"]);
        let wanted = |board: &mut Board| board.owned.entry(0).or_default().velocity_steps = 1;
        assert_eq!(broken(wanted), ["what nobody asks for is not kept"]);
        for change in [
            (|board| board.closed[0].1.longest_wait_ms = 1_001.0) as fn(&mut Board),
            |board| board.detached = None,
            |board| board.detached = Some((2, ALLOWED_MS - 1)),
        ] {
            assert_eq!(broken(change), ["the simulation is not held up"]);
        }
        assert_eq!(broken(|board| board.links.clear()), ["links"]);
        assert!(broken(|board| board.judged[0].torn = true).contains(&"CSym's verdict"));
        assert_eq!(
            broken(|board| board.constants = Some((3, 2))),
            ["a constant central symmetry does not pass"]
        );
        assert_eq!(broken(|board| board.constants = None), ["a constant central symmetry does not pass"]);
    }

    #[test]
    fn the_energy_is_checked_where_python_runs() {
        let what = ["the energy that Python finds is LAMMPS's"];
        assert_eq!(broken(|board| board.energies = None), what);
        for change in [
            (|found| found.holds = false) as fn(&mut Energies),
            |found| found.refused = 2,
            |found| (found.constants, found.refused) = (0, 0),
        ] {
            assert_eq!(broken(|board| board.energies.iter_mut().for_each(change)), what);
        }
        let (mut settings, mut board) = good_crack();
        (settings.python, board.energies) = (None, None);
        assert_eq!(failing(&settings, &board), Vec::<&str>::new());
        let found = check(&settings, &board, &[], 0, Duration::ZERO);
        let unchecked = |result: &&CheckResult| result.status == CheckStatus::NotChecked;
        let unchecked: Vec<&str> = found.iter().filter(unchecked).map(|result| result.what).collect();
        assert_eq!(unchecked, what);
    }

    #[test]
    fn cna_must_come_and_go_while_the_simulation_runs() {
        let what = ["CNA attached to the live stream and left it"];
        for change in [
            (|board| board.cna_came_ms = None) as fn(&mut Board),
            |board| board.cna_came_ms = Some(999),
            |board| board.cna_went_ms = Some(9_999),
            |board| board.cna_took.truncate(11),
            |board| board.cna_took[0] = 900,
            |board| board.bonds_to_cna.clear(),
            |board| board.bonds_to_cna.insert(0, 0),
        ] {
            assert_eq!(broken(change), what);
        }
    }

    #[test]
    fn one_wrong_or_missing_step_fails_the_comparison() {
        let what = ["central symmetry is LAMMPS's, atom by atom"];
        assert_eq!(broken(|board| board.compared.truncate(12)), what);
        assert_eq!(broken(|board| board.compared[2].holds = false), what);
    }

    #[test]
    fn classes_hold_when_none_is_wrong_and_some_step_tells_something() {
        let settings = settings(Problem::Notch);
        let classes = |telling| Finding::Classes { census: [60, 10, 0, 0, 20], changed: 9, telling };
        let with = |steps: Vec<Compared>| {
            let mut board = good(&settings);
            board.compared = steps;
            let failing = failing(&settings, &board);
            failing.contains(&"classes are LAMMPS's, atom by atom")
        };
        assert!(!with(vec![compared(250, 0, classes(false)), compared(500, 0, classes(true))]));
        assert!(with(vec![compared(250, 0, classes(false))]), "nothing told");
        assert!(with(vec![compared(250, 1, classes(false)), compared(500, 0, classes(true))]), "one wrong");
        assert!(with(Vec::new()));
    }

    #[test]
    fn without_lammps_the_science_is_not_checked() {
        let (mut settings, board) = good_crack();
        settings.source = SourceKind::BuiltIn;
        let found = check(&settings, &board, &[], 0, Duration::ZERO);
        let unchecked = found.iter().filter(|result| result.status == CheckStatus::NotChecked).count();
        assert_eq!(unchecked, 3);
        assert_eq!(failing(&settings, &board), Vec::<&str>::new());
    }
}
