//! Control messages are few: a bounded number for each step, and for each change of who is there.

use super::Oracle;
use super::Rule;
use fp_proto::message::Message;

/// What was sent in a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    /// Sent for steps: reports, decisions, assignments, releases, credit.
    pub(crate) steps: u64,
    /// Bytes of `Ready` that say that nothing changed.
    pub(crate) largest_unchanged_ready_bytes: u64,
    pub(crate) others: u64,
    pub(crate) heartbeats: u64,
    /// Questions that observers asked.
    pub(crate) status_questions: u64,
    /// Questions that may be answered, by the time that observers were there.
    pub(crate) status_admitted: u64,
    /// Sent among ranks, and to observers, about status.
    pub(crate) status: u64,
    /// What subscribers asked of a simulation.
    pub(crate) requests: u64,
    /// Sent to ask a simulation for something, and to answer that.
    pub(crate) steering: u64,
}

impl Traffic {
    /// Counts a message.
    pub(crate) fn sent(&mut self, message: &Message, len_bytes: u64) {
        match message {
            Message::Heartbeat => self.heartbeats += 1,
            Message::Ready { report, .. } => {
                self.steps += 1;
                if report.changed.is_empty() {
                    self.largest_unchanged_ready_bytes = self.largest_unchanged_ready_bytes.max(len_bytes);
                }
            }
            Message::Log { .. }
            | Message::Assign(_)
            | Message::Release { .. }
            | Message::ReadyMeasured { .. }
            | Message::AssignJudged { .. } => self.steps += 1,
            Message::AskStatus { .. } | Message::Status { .. } | Message::StatusRefused { .. } => {
                self.status += 1
            }
            Message::Steer { .. } | Message::Steered { .. } | Message::SteeringAnswer { .. } => {
                self.steering += 1
            }
            #[rustfmt::skip]
            Message::Probe { .. } | Message::ProbeReply { .. } | Message::Join { .. }
            | Message::Welcome { .. } | Message::Refused { .. } | Message::TreeHello { .. }
            | Message::SubtreeOpen | Message::CohortOpen | Message::RankLost { .. }
            | Message::Prepared { .. } | Message::Expire { .. } | Message::Closing { .. }
            | Message::Late { .. } | Message::TableRequest { .. } | Message::TableReply { .. }
            | Message::Subscribe { .. } | Message::Subscribed { .. } | Message::Reselect { .. }
            | Message::Reselected { .. } | Message::Unsubscribe | Message::StreamEnd { .. }
            | Message::Leaving | Message::Attached { .. } | Message::AwaitingRestart { .. }
            | Message::Left | Message::Resolve { .. } | Message::Resolved { .. }
            | Message::Fragment { .. } | Message::TableRefused { .. } | Message::Unresolved { .. }
            | Message::RestartHeard | Message::AskContacts { .. } | Message::Contacts { .. } => self.others += 1,
        }
    }
}

impl Oracle {
    /// Each question has one answer or refusal. One that is answered goes over each link of the trees once, and back.
    fn check_status_traffic(&mut self) {
        let publishers: u64 = self.publishers.values().map(|truth| u64::from(truth.plan.size)).sum();
        let subscribers: u64 = self.subscribers.values().map(|truth| u64::from(truth.plan.size)).sum();
        let Traffic { status, status_questions, status_admitted, .. } = self.traffic;
        let allowed = status_questions + status_admitted * 2 * (publishers + subscribers);
        self.demand(status <= allowed, Rule::ObserversCostBoundedNumberOfMessages, || {
            format!("{status} messages about status were sent, {allowed} would do")
        });
    }

    /// A request goes to the lead, its answer comes back, and each rank below answers once. Where nobody asks for anything
    /// there is none of that.
    fn check_steering_traffic(&mut self) {
        let ranks = self.publishers.values().map(|truth| u64::from(truth.plan.size)).max().unwrap_or(0);
        let Traffic { steering, requests, .. } = self.traffic;
        let allowed = requests * (1 + ranks);
        self.demand(steering <= allowed, Rule::RequestsCostBoundedNumberOfMessages, || {
            format!("{steering} messages were sent for {requests} requests, {allowed} would do")
        });
    }

    /// At the end of a run: no more messages were sent than its steps and members account for.
    pub(crate) fn check_traffic(&mut self) {
        let mut allowed = 0;
        for truth in self.publishers.values() {
            let (ranks, steps) = (u64::from(truth.plan.size), truth.highest_begun());
            // A report up and the decision down; each assignment and each release is news as well.
            allowed += ranks * (truth.laggings + 2 * steps + 8 * truth.subscriptions.len() as u64 + 16);
            for wanted in truth.subscriptions.values() {
                allowed += ranks * (wanted.dropped.len() as u64 + 8);
            }
            for member in truth.members.values() {
                let readers = u64::from(self.subscribers[&member.cohort].plan.size);
                allowed += (member.assigned.len() as u64) * (2 * ranks + 2 * readers + 2);
            }
        }
        let sent = self.traffic.steps;
        self.demand(sent <= allowed, Rule::MessagesAreBounded, || {
            format!("{sent} messages were sent for steps, {allowed} would do")
        });
        self.check_status_traffic();
        self.check_steering_traffic();
        let bytes = self.traffic.largest_unchanged_ready_bytes;
        self.demand(bytes <= 128, Rule::UnchangedLayoutCostsFewBytes, || {
            format!("a report without changes took {bytes} bytes")
        });
    }
}
