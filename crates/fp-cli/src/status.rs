//! `flexpath status`: how the ranks of a stream are, what they wait for, and who does not answer.

use std::io::Write;

use fp_core::LinkOptions;
use fp_core::Rank;
use fp_core::diagnosis::status::{
    CohortStatus, NoAnswer, RankStatus, StatusReport, StatusScope, SubscriptionStatus, Unanswered, WaitOn,
    status, status_at,
};
use fp_core::rendezvous::Rendezvous;

use crate::arguments::StatusOptions;
use crate::failure::Failure;
use crate::output;

/// Asks, and prints what was said.
pub(crate) fn run(rendezvous: Rendezvous, options: &StatusOptions) -> Result<(), Failure> {
    let mut link = LinkOptions::default();
    link.rendezvous = Some(rendezvous);
    options.credentials.read()?.set(&mut link);
    let scope = options.rank.map_or(StatusScope::Stream, |rank| StatusScope::Rank(Rank(rank)));
    let report = match &options.at {
        Some(contact) => status_at(contact, scope, &link, options.timeout),
        None => status(&options.stream, scope, &link, options.timeout),
    }?;
    output::print(&report, options.json, |out| print_report(out, &report))
}

/// A table for people: a line for each rank, and under it what it waits for.
fn print_report(out: &mut impl Write, report: &StatusReport) -> std::io::Result<()> {
    for cohort in &report.cohorts {
        print_cohort(out, cohort)?;
    }
    Ok(())
}

fn print_cohort(out: &mut impl Write, cohort: &CohortStatus) -> std::io::Result<()> {
    let kind = if cohort.publishes { "publisher of" } else { "subscriber" };
    let CohortStatus { name, size, answered, .. } = cohort;
    writeln!(out, "{kind} {name}: {answered} of {size} ranks answered")?;
    writeln!(
        out,
        "  {:>6} {:>8}  {:<10} {:>8} {:>5} {:>10}  waits for",
        "rank", "pid", "phase", "step", "live", "memory"
    )?;
    for row in &cohort.ranks {
        print_rank(out, row)?;
    }
    let left_out = u64::from(*answered).saturating_sub(cohort.ranks.len() as u64);
    if left_out > 0 {
        writeln!(out, "  ({left_out} more ranks answered, and are left out)")?;
    }
    for silent in &cohort.unanswered {
        writeln!(out, "  {:>6} {}", silent.rank.0, unanswered(silent))?;
    }
    if cohort.unnamed > 0 {
        writeln!(out, "  ({} more ranks did not answer)", cohort.unnamed)?;
    }
    let mut subscriptions =
        cohort.ranks.iter().flat_map(|row| &row.subscriptions).filter(|one| one.members > 0);
    subscriptions.try_for_each(|one| writeln!(out, "  {}", subscription(one)))
}

fn print_rank(out: &mut impl Write, row: &RankStatus) -> std::io::Result<()> {
    let waits: Vec<String> = row
        .waits
        .iter()
        .map(|wait| format!("{} for {}", waited_for(&wait.on), seconds(wait.waited_ms)))
        .collect();
    let waits = if waits.is_empty() { "-".to_owned() } else { waits.join("; ") };
    let phase = format!("{:?}", row.phase).to_lowercase();
    let memory = format!("{} MiB", row.process.resident_bytes >> 20);
    let (rank, pid, next, live) = (row.rank.0, row.process.pid, row.steps.next.0, row.steps.live);
    writeln!(out, "  {rank:>6} {pid:>8}  {phase:<10} {next:>8} {live:>5} {memory:>10}  {waits}")?;
    for link in row.links.iter().filter(|link| !link.reason.is_empty()) {
        writeln!(out, "  {:>6}   {:?} link {}: {}", "", link.with, link.transport, link.reason)?;
    }
    Ok(())
}

/// What is waited for, and for whom.
fn waited_for(on: &WaitOn) -> String {
    let who = |subscription: &dyn std::fmt::Display, label: &str| match label {
        "" => format!("subscription {subscription}"),
        label => format!("subscription {subscription} ({label})"),
    };
    match on {
        WaitOn::Ranks { present, size } => format!("ranks of its cohort: {present} of {size} are there,"),
        WaitOn::Lead => "its lead".to_owned(),
        WaitOn::Publisher => "a publisher".to_owned(),
        WaitOn::Decision { step, lagging: Some(rank) } => format!("step {step} of rank {rank}"),
        WaitOn::Decision { step, lagging: None } => format!("step {step} of other ranks"),
        WaitOn::Release { subscription, label, live_steps, live_bytes } => {
            let who = who(subscription, label);
            format!("{who} to release one of {live_steps} steps ({live_bytes} bytes live)")
        }
        WaitOn::Step => "a step".to_owned(),
        WaitOn::Close { subscription, label, steps } => {
            format!("{} to release {steps} steps before it closes", who(subscription, label))
        }
        WaitOn::Others => "other ranks to close".to_owned(),
        WaitOn::Pause { by } => format!("`resume`, or the end of the pause that {by:?} asked for"),
        WaitOn::Request { parameter, by } => {
            format!("all ranks to agree at which step they see that {by:?} asks for {parameter:?}")
        }
    }
}

fn unanswered(silent: &Unanswered) -> String {
    let why = match silent.why {
        NoAnswer::Silent { unheard_ms } => format!("is silent: nothing heard for {}", seconds(unheard_ms)),
        NoAnswer::Lost => "is lost: its link is gone".to_owned(),
        NoAnswer::NotLinked => "has not come yet".to_owned(),
        NoAnswer::Busy => "was not asked: too many questions are under way".to_owned(),
    };
    match silent.beyond {
        0 => why,
        beyond => format!("{why}; {beyond} ranks that are asked through it are not known of"),
    }
}

fn subscription(one: &SubscriptionStatus) -> String {
    let SubscriptionStatus { subscription, label, policy, queued, held, lag_steps, limit_steps, .. } = one;
    format!(
        "subscription {subscription} ({label}): {policy:?}, {queued} queued, {held} held, of {limit_steps}; \
         {lag_steps} steps behind"
    )
}

fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::diagnosis::status::{ProcessStatus, RankPhase, StepCounts, Wait};
    use fp_core::{StepId, SubscriptionId};

    #[test]
    fn a_table_says_who_waits_for_whom_and_who_is_silent() {
        let on = WaitOn::Release {
            subscription: SubscriptionId(2),
            label: "viewer".to_owned(),
            live_steps: 4,
            live_bytes: 96,
        };
        let row = RankStatus {
            rank: Rank(0),
            phase: RankPhase::Streaming,
            steps: StepCounts { next: StepId(7), live: 4, ..StepCounts::default() },
            waits: vec![Wait { on, waited_ms: 1500 }],
            subscriptions: Vec::new(),
            subscriptions_left_out: 0,
            links: Vec::new(),
            links_left_out: 0,
            process: ProcessStatus { pid: 42, resident_bytes: 5 << 20, ..ProcessStatus::default() },
        };
        let why = NoAnswer::Silent { unheard_ms: 2300 };
        let cohort = CohortStatus {
            name: "heat".to_owned(),
            publishes: true,
            size: 4,
            answered: 1,
            ranks: vec![row],
            unanswered: vec![Unanswered { rank: Rank(1), beyond: 2, why }],
            ..CohortStatus::default()
        };
        let mut out = Vec::new();
        print_report(&mut out, &StatusReport { cohorts: vec![cohort] }).unwrap();
        let expected = "publisher of heat: 1 of 4 ranks answered\n    rank      pid  phase          step  live     memory  waits for\n       0       42  streaming         7     4      5 MiB  subscription 2 (viewer) to release one of 4 steps (96 bytes live) for 1.5 s\n       1 is silent: nothing heard for 2.3 s; 2 ranks that are asked through it are not known of\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
