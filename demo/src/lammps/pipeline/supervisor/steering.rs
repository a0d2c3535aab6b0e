//! What a run has shown of steering: the pull was slowed down as the watch had it asked for.

use super::super::report::Asked;
use super::super::settings::Settings;
use super::board::Board;
use crate::shared::check_result::CheckResult;

/// How far the growth of the body may be from twice the speed, as a share: positions have that many digits.
const ALLOWED: f64 = 1e-6;

/// All ranks had the request at one step, after the verdict: the one that was told to who asked. And from that step on, not
/// before, the body grows by half as much in each time step.
pub(super) fn steered(settings: &Settings, board: &Board) -> CheckResult {
    let what = "the pull is slowed down at one step, as was asked";
    let Some(Asked { time_step, speed }) = board.asked.values().next().copied() else {
        return CheckResult::of(false, what, "no rank of the simulation was asked".to_owned());
    };
    let asked_alike = board.asked.len() == settings.ranks as usize
        && board.asked.values().all(|asked| *asked == Asked { time_step, speed });
    let told = board.applied.map(|step| step as i64 * settings.run_config().publish_every as i64);
    let later = board.torn_at().is_some_and(|torn| torn < time_step);
    let before = growth(board, |_, to| to <= time_step);
    let after = growth(board, |from, _| from >= time_step);
    let per_step = |speed: f64| 2.0 * speed * settings.problem.time_step();
    let grew = are_near(&before, per_step(settings.speed())) && are_near(&after, per_step(speed));
    let numbers = format!(
        "{} of {} ranks took speed {speed} at step {time_step}, {} was told; the body grew by {} a time step before, and by \
         {} after",
        board.asked.len(),
        settings.ranks,
        told.map_or("none".to_owned(), |step| step.to_string()),
        mean(&before),
        mean(&after),
    );
    let holds = asked_alike && speed == settings.slower() && told == Some(time_step) && later && grew;
    CheckResult::of(holds, what, numbers)
}

/// By how much the body grew in a time step, between compared steps that follow one another.
fn growth(board: &Board, is_wanted: impl Fn(i64, i64) -> bool) -> Vec<f64> {
    let heights: Vec<(i64, f64)> = board.heights.iter().map(|(step, height)| (*step, *height)).collect();
    let pairs = heights.windows(2).filter(|two| is_wanted(two[0].0, two[1].0));
    pairs.map(|two| (two[1].1 - two[0].1) / (two[1].0 - two[0].0) as f64).collect()
}

/// Whether there are some, and all are so.
fn are_near(found: &[f64], wanted: f64) -> bool {
    !found.is_empty() && found.iter().all(|growth| (growth - wanted).abs() <= ALLOWED * wanted)
}

fn mean(found: &[f64]) -> String {
    format!("{:.7}", found.iter().sum::<f64>() / found.len() as f64)
}

#[cfg(test)]
pub(super) mod samples {
    use super::*;

    /// A run that was asked at its twelfth step, as it should be.
    pub(in super::super) fn fill(settings: &Settings, board: &mut Board) {
        let config = settings.run_config();
        let (time_step, speed) = (12 * config.publish_every as i64, settings.slower());
        board.asked = (0..settings.ranks).map(|rank| (rank, Asked { time_step, speed })).collect();
        board.applied = Some(12);
        let compared = (0..=config.steps as i64).step_by(config.compare_every as usize);
        let height = |step: i64| {
            let (fast, slow) = (step.min(time_step), (step - time_step).max(0));
            let grown = fast as f64 * settings.speed() + slow as f64 * speed;
            30.0 + 2.0 * settings.problem.time_step() * grown
        };
        board.heights = compared.map(|step| (step, height(step))).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::settings::{Size, SourceKind};
    use super::super::notice::Judged;
    use super::super::options::{Options, WantedSource};
    use super::*;
    use crate::lammps::problem::Problem;
    use crate::shared::check_result::CheckStatus;

    fn run(change: impl FnOnce(&mut Board)) -> CheckStatus {
        let options = Options {
            short: true,
            problem: None,
            source: WantedSource::Auto,
            output: "nowhere".into(),
            deadline_s: 1,
            max_wait_ms: 1,
            address: None,
            python: None,
            tiny: false,
        };
        let settings = options.settings(Problem::Crack, SourceKind::Lammps);
        assert_eq!(settings.size, Size::Short);
        let mut board = Board::default();
        let torn = |time_step, torn| Judged { time_step, torn, torn_atoms: 0, atoms: 90, bonds: 300 };
        board.judged = vec![torn(0, false), torn(1_000, true)];
        samples::fill(&settings, &mut board);
        change(&mut board);
        steered(&settings, &board).status
    }

    #[test]
    fn the_speed_changes_where_it_was_asked_for_and_nowhere_else() {
        assert_eq!(run(|_| ()), CheckStatus::Holds);
        for (number, change) in [
            (|board| board.asked.clear()) as fn(&mut Board),
            |board| board.asked.retain(|rank, _| *rank != 3),
            |board| board.asked.values_mut().take(1).for_each(|asked| asked.time_step += 100),
            |board| board.asked.values_mut().for_each(|asked| asked.speed *= 2.0),
            |board| board.applied = None,
            |board| board.applied = Some(13),
            |board| board.judged.truncate(1),
            |board| board.judged[1].time_step = 1_200,
            |board| board.heights.clear(),
            |board| board.heights.values_mut().for_each(|height| *height *= 1.001),
            |board| *board.heights.entry(3_000).or_default() += 0.001,
            |board| board.heights.retain(|step, _| *step <= 1_200),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(run(change), CheckStatus::Fails, "change {number}");
        }
    }

    #[test]
    fn the_answer_is_heard() {
        let mut board = Board::default();
        board.take_answer("speed = 0.115: applied at step 43");
        board.take_answer("something else");
        assert_eq!(board.applied, Some(43));
    }
}
