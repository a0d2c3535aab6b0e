//! Deliberate mistakes, compiled in only for the simulator's own test: a checker that does not catch them all
//! checks nothing.

/// One mistake in a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutation {
    /// The lead starts a subscription one step too early.
    FirstStepTooLow,
    /// `Prepared` answers merge to their minimum.
    PreparedMinimum,
    /// A step is a subscription's if any rank kept it (instead of every rank).
    KeptByAny,
    /// A subscriber rank forgets the release of its children.
    LostRelease,
    /// A step is freed at its first release.
    EarlyReclaim,
    /// A subscriber rank sends its release up before its children have released.
    ReleaseBeforeChildren,
    /// `begin_step` ignores the bound on undecided steps.
    SkewUnbounded,
    /// Steps are assigned without credit.
    AssignBeyondCredit,
    /// `DropOldest` drops a step that is assigned.
    DropAssigned,
    /// A rank whose blocks changed says they did not.
    StaleContribution,
    /// A rank does not hold back `Ready` while a change is pending.
    ReadyBeforeStart,
    /// A rank does not hold back `Ready` while it is not known at which step a request is seen.
    ReadyBeforeRequestStart,
    /// A step that one rank abandoned is delivered.
    AbandonIgnored,
    /// Dropped steps are not counted.
    SkippedNotCounted,
    /// A redelivering set loses the steps of a dead member.
    RedeliveryForgotten,
    /// What a member gives back is released.
    GiveBackForgotten,
    /// A subscriber rank does not tell that a child gave a step back.
    GiveBackUnmerged,
    /// The stream ends while steps are still queued.
    EndBeforeLast,
    /// After a restart the steps of the old epoch are still handed out.
    RestartKeepsQueue,
    /// What is held as the publisher is lost is passed over, though it is wanted again.
    HeldPassedOver,
    /// A silent peer is never lost.
    SilenceIgnored,
    /// Memory that a lost subscriber may still see is reused.
    FreeWithoutRetire,
    /// What a rank holds as it closes is released like any step.
    CloseWithoutRetire,
    /// A newcomer's reserved steps are freed when the reserve moves on.
    ReservedNotPinned,
    /// A live incumbent does not stop a claim.
    IncumbentIgnored,
    /// Whoever asked for contacts beyond a rank that is lost is told nothing.
    ContactsForgotten,
    /// A queue that keeps the newest gives that up, and not the oldest.
    DropNewestQueued,
    /// A step is dropped though there is a place for it.
    DropBelowLimit,
    /// Whoever was silent for too long is not told.
    SilentPeerUntold,
    /// The owner's bound on waits is ignored.
    WaitUncapped,
    /// What a member did not take before it left is as good as read.
    LeaveDiscards,
    /// What was said of a step that is held as its rank closes is not heeded.
    VerdictForgotten,
    /// A subscription that asks for a lower bound than the publisher allows has that lower one.
    LeastLimitIgnored,
    /// The reserve keeps as many steps as it may, whatever they take.
    ReserveBytesIgnored,
    /// After a restart a subscriber goes on one step too late.
    ResumeOneTooLate,
    /// After a restart a rank takes what it has taken already.
    ResumeTakesAgain,
    /// A question about status under way holds up the next step.
    StatusHoldsStep,
    /// Who does not answer a question about status is not named.
    SilentRankUnnamed,
    /// Observers may ask as often as they like.
    StatusUnbounded,
    /// A parent forgets what its children told in the order in which that came first.
    RepeatsByAge,
    /// What returns is told whole.
    RepeatsWhole,
    /// What returns is told by the number of something else.
    RepeatMisnamed,
    /// A rank keeps no table but those of its live steps and the latest.
    TablesForgotten,
    /// Every step is as good as one that satisfies a subscription's condition.
    ConditionIgnored,
    /// A step is judged by the table of the one that was decided before.
    ConditionOfAnotherTable,
    /// A step before the first that another condition holds for is judged by that one.
    ConditionChangedEarly,
    /// A condition that is to take the place of another is refused, though the publisher knows it.
    ConditionRefusedAnyway,
    /// Steps are judged by the condition of before, though another one holds.
    ConditionUnchanged,
    /// As soon as a rank hears of another selection or condition, it forgets the one before.
    EarlierSelectionForgotten,
    /// What a child measured counts twice.
    PartMergedTwice,
    /// A rank tells what it measured of the step before.
    PartOfOlderStep,
    /// A rank answers that it can see a request at its next step.
    SteeredAtNext,
    /// A rank begins its next step before it knows when an urgent request is seen.
    NowNotAwaited,
    /// A rank says that it is paused, and goes on.
    PauseForgotten,
    /// What a rank below declined counts as taken.
    DeclineForgotten,
    /// A request is answered before all ranks below have seen it.
    AnsweredBeforeChildren,
    /// Who asked first is told what another one's request came to, where they are handed on.
    DelegateMisheard,
    /// A request is handed on twice.
    DelegatedTwice,
    /// A step that does not satisfy a condition is counted as missed.
    IndifferentIsSkipped,
    /// Whoever has a condition answers for steps that are not judged yet.
    UnjudgedBlamed,
    /// Of the watches that a step is for, and that are judged together, the last one is forgotten.
    LastWatchForgotten,
    /// A watch that has as many steps as it may is not looked at as a step begins.
    BusyWatchForgotten,
    /// A step that is kept for watches is kept for them no more as soon as it has ended.
    FreedBeforeJudged,
    /// A step that is kept for watches is kept for them though it is decided.
    WatchedForEver,
    /// Whoever gets a step late is told that it was decided then.
    TimeOfAssignment,
    /// Every step joins the reserve, whatever that is to have.
    ReserveUnjudged,
    /// Whoever wants steps as the reserve has them is told that those of the past were not judged.
    ReservedHitForgotten,
    /// One peer may have as many subscriptions as it likes.
    PeersUnbounded,
    /// A publisher that is short of memory takes newcomers.
    ShortageIgnored,
    /// Whoever is refused for want of memory does not try again.
    ShortageIsFinal,
    /// After a loss a close waits as long as somebody holds a step.
    LossHoldsClose,
    /// Who awaits a restart takes a loss for the end.
    LossIsFinal,
    /// What a rank waited for a subscription before counts though it has released a step since.
    PatienceUsedUp,
    /// What was missed after the last step is not told as the stream ends.
    MissedAtEndUntold,
    /// A subscriber's lead that closes at its deadline says that all its ranks have left.
    TimedOutAsLeft,
    /// A child that has left still delays what its siblings release.
    LeaverDelays,
    /// Where ranks go on to contradict one another, the table of the last step on which they agreed stands.
    DisputeForgotten,
    /// Subscriptions that are over are remembered for ever.
    EndedRemembered,
    /// Tables that were asked for are remembered for ever.
    TablesRemembered,
}

impl Mutation {
    /// Those by which nothing happens that should not, but that remember more and more.
    pub const HOARDING: [Self; 2] = [Self::EndedRemembered, Self::TablesRemembered];

    /// All but the hoarding ones.
    pub const ALL: [Self; 77] = [
        Self::FirstStepTooLow,
        Self::PreparedMinimum,
        Self::KeptByAny,
        Self::LostRelease,
        Self::EarlyReclaim,
        Self::ReleaseBeforeChildren,
        Self::SkewUnbounded,
        Self::AssignBeyondCredit,
        Self::DropAssigned,
        Self::StaleContribution,
        Self::ReadyBeforeStart,
        Self::ReadyBeforeRequestStart,
        Self::AbandonIgnored,
        Self::SkippedNotCounted,
        Self::RedeliveryForgotten,
        Self::GiveBackForgotten,
        Self::GiveBackUnmerged,
        Self::EndBeforeLast,
        Self::RestartKeepsQueue,
        Self::HeldPassedOver,
        Self::SilenceIgnored,
        Self::FreeWithoutRetire,
        Self::CloseWithoutRetire,
        Self::ReservedNotPinned,
        Self::IncumbentIgnored,
        Self::ContactsForgotten,
        Self::DropNewestQueued,
        Self::DropBelowLimit,
        Self::SilentPeerUntold,
        Self::WaitUncapped,
        Self::LeaveDiscards,
        Self::VerdictForgotten,
        Self::LeastLimitIgnored,
        Self::ReserveBytesIgnored,
        Self::ResumeOneTooLate,
        Self::ResumeTakesAgain,
        Self::StatusHoldsStep,
        Self::SilentRankUnnamed,
        Self::StatusUnbounded,
        Self::RepeatsByAge,
        Self::RepeatsWhole,
        Self::RepeatMisnamed,
        Self::TablesForgotten,
        Self::ConditionIgnored,
        Self::ConditionOfAnotherTable,
        Self::ConditionChangedEarly,
        Self::ConditionRefusedAnyway,
        Self::ConditionUnchanged,
        Self::EarlierSelectionForgotten,
        Self::PartMergedTwice,
        Self::PartOfOlderStep,
        Self::SteeredAtNext,
        Self::NowNotAwaited,
        Self::PauseForgotten,
        Self::DeclineForgotten,
        Self::AnsweredBeforeChildren,
        Self::DelegateMisheard,
        Self::DelegatedTwice,
        Self::IndifferentIsSkipped,
        Self::UnjudgedBlamed,
        Self::LastWatchForgotten,
        Self::BusyWatchForgotten,
        Self::FreedBeforeJudged,
        Self::WatchedForEver,
        Self::TimeOfAssignment,
        Self::ReserveUnjudged,
        Self::ReservedHitForgotten,
        Self::PeersUnbounded,
        Self::ShortageIgnored,
        Self::ShortageIsFinal,
        Self::LossHoldsClose,
        Self::LossIsFinal,
        Self::PatienceUsedUp,
        Self::MissedAtEndUntold,
        Self::TimedOutAsLeft,
        Self::LeaverDelays,
        Self::DisputeForgotten,
    ];
}
