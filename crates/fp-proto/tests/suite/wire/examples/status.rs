//! Examples of what observers ask and are told.

use super::{EPOCH, RANK, STEP, SUBSCRIPTION};
use fp_proto::access::{Action, Denial};
use fp_proto::config::QueuePolicy;
use fp_proto::message::Message;
use fp_proto::status::report::{
    CohortStatus, LinkStatus, LinkWith, NoAnswer, ProcessStatus, RankPhase, RankStatus, StatusRefusal,
    StatusReport, StatusScope, StepCounts, SubscriptionStatus, Unanswered, Wait, WaitOn,
};
use fp_types::Rank;

fn waits() -> Vec<Wait> {
    let label = "viewer".to_owned();
    let release =
        WaitOn::Release { subscription: SUBSCRIPTION, label: label.clone(), live_steps: 4, live_bytes: 9600 };
    let all = [
        WaitOn::Ranks { present: 3, size: 4 },
        WaitOn::Lead,
        WaitOn::Publisher,
        WaitOn::Decision { step: STEP, lagging: Some(RANK) },
        release,
        WaitOn::Step,
        WaitOn::Close { subscription: SUBSCRIPTION, label, steps: 2 },
        WaitOn::Others,
        WaitOn::Pause { by: "viewer".to_owned() },
        WaitOn::Request { parameter: "level".to_owned(), by: "viewer".to_owned() },
    ];
    all.map(|on| Wait { on, waited_ms: 1200 }).into()
}

fn links() -> Vec<LinkStatus> {
    let all = [
        LinkWith::Parent,
        LinkWith::Child(RANK),
        LinkWith::Subscriber,
        LinkWith::Publisher,
        LinkWith::Asker,
        LinkWith::Observer,
        LinkWith::Stranger,
        LinkWith::Data,
    ];
    let link = |with| LinkStatus {
        with,
        unheard_ms: (with != LinkWith::Data).then_some(30),
        transport: "tcp 127.0.0.1:4000".to_owned(),
        reason: "shm: another host".to_owned(),
    };
    all.map(link).into()
}

fn row(rank: u32, phase: RankPhase) -> RankStatus {
    let subscription = SubscriptionStatus {
        subscription: SUBSCRIPTION,
        label: "viewer".to_owned(),
        members: 1,
        policy: QueuePolicy::DropOldest,
        limit_steps: 4,
        live_steps: 3,
        queued: 1,
        held: 2,
        lag_steps: 5,
    };
    let counters = vec![("steps".to_owned(), 70_000)];
    RankStatus {
        rank: Rank(rank),
        phase,
        steps: StepCounts { next: STEP, undecided: 1, live: 2, live_bytes: 9600, queued: 3, held: 4 },
        waits: waits(),
        subscriptions: vec![subscription],
        subscriptions_left_out: 6,
        links: links(),
        links_left_out: 7,
        process: ProcessStatus { pid: 8, version: "0.1.0".to_owned(), resident_bytes: 1 << 20, counters },
    }
}

/// Questions of observers, and answers.
pub(crate) fn about_status() -> Vec<Message> {
    let phases = [
        RankPhase::Opening,
        RankPhase::Attaching,
        RankPhase::Streaming,
        RankPhase::Ended,
        RankPhase::Closing,
        RankPhase::Lost { rank: RANK },
        RankPhase::Closed,
    ];
    let whys = [NoAnswer::Silent { unheard_ms: 9000 }, NoAnswer::Lost, NoAnswer::NotLinked, NoAnswer::Busy];
    let cohort = CohortStatus {
        name: "atoms".to_owned(),
        publishes: true,
        epoch: Some(EPOCH),
        size: 400,
        answered: 7,
        ranks: (0..).zip(phases).map(|(rank, phase)| row(rank, phase)).collect(),
        unanswered: (9..)
            .zip(whys)
            .map(|(rank, why)| Unanswered { rank: Rank(rank), beyond: 16, why })
            .collect(),
        unnamed: 20,
    };
    let refusals = [
        StatusRefusal::TooOften { retry_ms: 250 },
        StatusRefusal::TooManyObservers { limit: 16 },
        StatusRefusal::NoSuchRank { size: 4 },
        StatusRefusal::Denied(Denial::new(Action::Status, None, "uid 1000".to_owned(), None)),
    ];
    let scopes = [StatusScope::Rank(RANK), StatusScope::Cohort, StatusScope::Stream];
    let asks = scopes.map(|scope| Message::AskStatus { request: 14, scope, patience_ms: 1000 });
    let refused = refusals.map(|reason| Message::StatusRefused { request: 14, reason });
    let report = Box::new(StatusReport { cohorts: vec![cohort] });
    asks.into_iter().chain([Message::Status { request: 14, report }]).chain(refused).collect()
}
