//! The state changes that a machine can make, by name: the simulator must take every one of them.

/// Builds the enum, its list and its names from one place.
macro_rules! transitions {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// One state change of a machine; `docs/protocol.md`, section 13, lists them all.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Transition { $($(#[$doc])* $name,)* }

        impl Transition {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The name in `docs/protocol.md`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

transitions! {
    /// A lead holds its name.
    ClaimHeld = "claim.held",
    /// A lead found a live incumbent or a lower epoch.
    ClaimWithdrawn = "claim.withdrawn",
    /// A rendezvous entry was not believed.
    EntryPassedOver = "rendezvous.entry.passed-over",
    /// A prober asked for more before it read that this lead is not the one.
    DeclinedUnheard = "rendezvous.declined.unheard",
    /// A rank asked for its place.
    CohortJoining = "cohort.joining",
    /// The lead refused a rank.
    JoinRefused = "cohort.join.refused",
    /// A rank hangs under its parent.
    CohortLinked = "cohort.linked",
    /// The cohort is complete.
    CohortOpened = "cohort.opened",
    /// Opening took too long.
    OpenTimedOut = "cohort.open.timed-out",
    /// A link was closed because its peer broke the protocol.
    LinkMisbehaved = "link.misbehaved",
    /// A peer was silent for too long.
    LinkSilent = "link.silent",
    /// A message was longer than a frame and was cut into fragments.
    LongMessageCut = "link.long-message.cut",
    /// A message that came in fragments was joined.
    LongMessageJoined = "link.long-message.joined",
    /// The coordinator overslept and its peers' deadlines were restarted.
    CoordinatorOverslept = "coordinator.overslept",

    /// A step was begun and is kept for somebody.
    StepBegunKept = "step.begun.kept",
    /// A step was begun that nobody wants.
    StepBegunUnwanted = "step.begun.unwanted",
    /// A rank did not keep a step for a subscription at its bound.
    StepNotKept = "step.not-kept",
    /// `begin_step` waits for undecided steps.
    BeginWaitsForSkew = "step.waits.skew",
    /// `begin_step` waits for a subscription.
    BeginWaitsForSubscription = "step.waits.subscription",
    /// The patience of the owner ended.
    WaitExpired = "step.wait.expired",
    /// A step was abandoned on a rank.
    StepAbandoned = "step.abandoned",
    /// `Ready` is held back while a change is pending.
    ReadyHeldBack = "step.ready.held-back",
    /// A rank said that its blocks changed.
    ReadyChanged = "step.ready.changed",
    /// A rank said that nothing changed.
    ReadyUnchanged = "step.ready.unchanged",
    /// A rank said that the blocks of its subtree are those of an earlier step.
    ReadyAgain = "step.ready.again",
    /// A step was decided whole.
    StepDecided = "step.decided",
    /// A step was decided for nobody.
    StepRejected = "step.rejected",
    /// A step's blocks were freed for reuse.
    StepFreed = "step.freed",
    /// A step's blocks were retired.
    StepRetired = "step.retired",
    /// A late rank was named.
    RankLagging = "step.lagging",

    /// A subscription was prepared on a rank.
    AddPrepared = "subscription.add.prepared",
    /// A subscription started on a rank.
    AddStarted = "subscription.add.started",
    /// A newcomer got reserved steps.
    ReserveGiven = "subscription.add.reserve",
    /// A newcomer got the precious first step.
    PreciousGiven = "subscription.add.precious",
    /// The end of a subscription was prepared on a rank.
    RemovePrepared = "subscription.remove.prepared",
    /// The end of a subscription holds on a rank.
    RemoveDone = "subscription.remove.done",
    /// A new selection was prepared on a rank.
    UpdatePrepared = "subscription.update.prepared",
    /// A new selection holds on a rank.
    UpdateDone = "subscription.update.done",
    /// A condition was refused that was to take the place of another.
    ConditionRefused = "subscription.condition.refused",
    /// A subscription is judged by another condition from a step on.
    ConditionChanged = "subscription.condition.changed",
    /// A request to the simulation was prepared on a rank.
    SteeringPrepared = "steering.prepared",
    /// The step of a request is known on a rank.
    SteeringStarted = "steering.started",
    /// A rank came to a step before which it is paused.
    SteeringPaused = "steering.paused",
    /// A rank that was paused, or was to be, goes on.
    SteeringResumed = "steering.resumed",
    /// The next step waits for the agreement on an urgent request.
    BeginWaitsForRequest = "step.waits.request",
    /// All ranks have answered a request.
    SteeringAnswered = "steering.answered",
    /// A request was handed on, for somebody else to answer.
    SteeringDelegated = "steering.delegated",
    /// A request was refused.
    SteeringRefused = "steering.refused",
    /// A subscriber asked something of the simulation.
    SubscriberSteers = "subscriber.steers",
    /// A subscription was refused.
    SubscribeRefused = "subscription.refused",
    /// A member joined a set that had members already.
    ShareJoined = "subscription.share.joined",

    /// A step was queued without a member to take it.
    StepQueued = "assignment.queued",
    /// A step was assigned.
    StepAssigned = "assignment.assigned",
    /// A queued step gave way to a newer one.
    QueuedDropped = "assignment.dropped",
    /// The same, as a rank had no room in bytes.
    QueuedDroppedForBytes = "assignment.dropped.bytes",
    /// A step does not satisfy a subscription's condition.
    ConditionUnmet = "assignment.unmet",
    /// A cohort released a step.
    StepReleased = "assignment.released",
    /// What a member gave back, or had as it went, goes to a member again.
    StepRedelivered = "assignment.redelivered",
    /// A dead member's step is lost to its set.
    StepLost = "assignment.lost",

    /// A member left.
    MemberLeft = "member.left",
    /// A member was lost.
    MemberLost = "member.lost",
    /// A member was expelled.
    MemberExpelled = "member.expelled",

    /// A publisher rank was lost: to the whole cohort.
    PublisherLost = "publisher.lost",
    /// A publisher rank is cut off from its lead.
    PublisherCutOff = "publisher.cut-off",
    /// A publisher rank began to close.
    PublisherClosing = "publisher.closing",
    /// A publisher closed with everything released.
    PublisherClosedClean = "publisher.closed.clean",
    /// A publisher closed at its deadline with steps held.
    PublisherClosedHeld = "publisher.closed.held",
    /// A publisher closed after a loss.
    PublisherClosedLost = "publisher.closed.lost",

    /// A subscriber lead sent its subscription.
    SubscriberAsking = "subscriber.asking",
    /// A subscriber lead sent its subscription with its probe, to the only candidate.
    SubscriberAskingAtOnce = "subscriber.asking.at-once",
    /// A subscriber rank is attached.
    SubscriberAttached = "subscriber.attached",
    /// A subscriber rank took a step.
    SubscriberStep = "subscriber.step",
    /// A subscriber rank gave a step back.
    SubscriberGivesBack = "subscriber.gives-back",
    /// A subscriber rank merged releases of its subtree.
    ReleaseMerged = "subscriber.release.merged",
    /// A subscriber asked for another selection.
    SubscriberReselecting = "subscriber.reselecting",
    /// The stream ended: closed.
    SubscriberEndedClosed = "subscriber.ended.closed",
    /// The stream ended: publisher lost.
    SubscriberEndedLost = "subscriber.ended.lost",
    /// The stream ended: expelled.
    SubscriberEndedExpelled = "subscriber.ended.expelled",
    /// A rank of the subscriber's own cohort is lost.
    SubscriberCohortLost = "subscriber.cohort-lost",
    /// A subscriber waits for a new epoch.
    SubscriberAwaiting = "subscriber.awaiting-restart",
    /// A subscriber found a new epoch.
    SubscriberRestarted = "subscriber.restarted",
    /// A subscriber goes on in a new epoch after what it took last.
    SubscriberContinued = "subscriber.continued",
    /// A subscriber began to close.
    SubscriberClosing = "subscriber.closing",
    /// A subscriber is closed.
    SubscriberClosed = "subscriber.closed",

    /// A table was asked for above.
    TableAskedAbove = "table.asked-above",
    /// A subscriber rank passed on what a child asked.
    QuestionPassedOn = "table.question.passed-on",
    /// A question was answered.
    TableAnswered = "table.answered",
    /// A question was about a table that is gone.
    TableUnknown = "table.unknown",

    /// A rank passed on a question about contacts.
    ContactsPassedOn = "contacts.passed-on",
    /// Contacts were told.
    ContactsTold = "contacts.told",
    /// A contact was not to be had any more: a rank on the way is lost.
    ContactsUnknown = "contacts.unknown",
    /// A subscriber rank asked where the publisher rank is that answers it.
    AnswererSought = "contacts.answerer-sought",

    /// A rank asked its neighbours for status.
    StatusPassedOn = "status.passed-on",
    /// A question about status was answered.
    StatusAnswered = "status.answered",
    /// A rank that did not answer in time was named.
    StatusUnanswered = "status.unanswered",
    /// An observer was refused an answer.
    StatusRefused = "status.refused",
    /// The link of an observer was closed, as it asked on and on.
    ObserverFlooded = "status.flood",
}

/// A set of transitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransitionSet(u128);

impl TransitionSet {
    /// Adds one.
    pub fn insert(&mut self, transition: Transition) {
        self.0 |= 1 << (transition as u32);
    }

    /// Whether it is in the set.
    pub fn contains(self, transition: Transition) -> bool {
        self.0 & (1 << (transition as u32)) != 0
    }

    /// Both together.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The transitions in the set, in the order of the list.
    pub fn iter(self) -> impl Iterator<Item = Transition> {
        Transition::ALL.iter().copied().filter(move |&transition| self.contains(transition))
    }

    /// Whether no transition is missing.
    pub fn is_full(self) -> bool {
        Transition::ALL.iter().all(|&transition| self.contains(transition))
    }
}
