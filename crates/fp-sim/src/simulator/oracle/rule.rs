//! The rules that every run must keep, one for each thing that an oracle demands.

use std::fmt;

/// Names each rule, and says it in words.
macro_rules! rules {
    ($($rule:ident => $text:literal,)*) => {
        /// What must be true of every run.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = $text] $rule,)*
        }

        impl Rule {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$rule,)*];

            fn text(self) -> &'static str {
                match self {
                    $(Self::$rule => $text,)*
                }
            }
        }
    };
}

rules! {
    AllRanksHearSameAssignments => "all ranks hear the same assignments",
    AllRanksSeeSameStepsInSameOrder => "all ranks see the same steps in the same order",
    AnswerNamesWhoIsSilent => "an answer names who is silent",
    AssignedStepCanBeReadUntilItIsReleased => "an assigned step can be read until it is released",
    AssignedStepIsInMemoryOnEveryRank => "an assigned step is in memory on every rank",
    AttachmentNamesItsEpoch => "an attachment names its epoch",
    BytesAddUp => "a step's bytes add up",
    CleanCloseMeansThatAllIsReleased => "a clean close means that all is released",
    ClosingEndsByItsDeadline => "closing ends by its deadline",
    CommandsFailForReason => "commands fail for a reason",
    ContactIsThatOfItsRank => "a contact is that of its rank",
    EndIsAnEvent => "the end is an event",
    EventsAreForTheirRole => "events are for their role",
    EveryKthMeansThat => "every k-th means every k-th",
    EveryQuestionIsAnswered => "every question is answered",
    EveryWaitHasDeadline => "every wait has a deadline",
    GivenBackByAnyIsByAll => "a cohort gives back what any of its ranks does",
    LayoutHasOneTableId => "a layout has one table id",
    LayoutThatReturnsIsToldByItsNumber => "a layout that returns is told by its number",
    LiveStepsOfSubscriptionAreBounded => "live steps of a subscription are bounded",
    LosslessSubscriptionDropsNothing => "a lossless subscription drops nothing",
    LosslessSubscriptionGetsEveryStep => "a lossless subscription gets every step",
    LostMemberIsNoticed => "a lost member is noticed",
    LostPublisherIsNoticed => "a lost publisher is noticed",
    LostRankIsNoticed => "a lost rank is noticed",
    MachineDoesNotSpin => "a machine does not spin",
    MachineNeverPanics => "a machine never panics",
    MemoryIsNotRetiredWithoutNeed => "memory is not retired without need",
    MemoryOfRankIsBounded => "memory of a rank is bounded",
    MemoryThatSomebodyMaySeeIsRetired => "memory that somebody may see is retired",
    MessagesAreBounded => "messages are bounded",
    MisuseIsRefused => "misuse is refused",
    NoHang => "no hang",
    NoPeerHasMoreSubscriptionsThanItMay => "no peer has more subscriptions than it may",
    NoStepTwiceAcrossRestart => "no step twice across a restart",
    NoStepsAfterClose => "no steps after close",
    NoStepsBeforeAttachment => "no steps before the attachment",
    NoStepsBeyondCredit => "no steps beyond credit",
    NoStepsOfEpochThatIsOver => "no steps of an epoch that is over",
    NoStormOfMessages => "no storm of messages",
    NoWaitWithoutCause => "no wait without a cause",
    NobodyIsExpelledWithoutCause => "nobody is expelled without a cause",
    NobodyIsLostWithoutFault => "nobody is lost without a fault",
    NobodyIsRefusedWithoutAccessList => "nobody is refused without an access list",
    NobodyMissesOthersSteps => "nobody misses a step that is none of its",
    NoneMissingAcrossRestart => "none missing across a restart",
    NothingComesBeforeFirstStep => "nothing comes before the first step",
    NothingComesThatWasHad => "nothing comes that was had",
    NothingIsDroppedThatThereIsPlaceFor => "nothing is dropped that there is a place for",
    NothingLeaks => "nothing leaks",
    ObserverDelaysNoStep => "an observer delays no step",
    ObserversCostBoundedNumberOfBytes => "observers cost a bounded number of bytes",
    ObserversCostBoundedNumberOfMessages => "observers cost a bounded number of messages",
    OneFirstStepForAllRanks => "one first step for all ranks",
    OneIncumbent => "one incumbent a name",
    OneSurvivor => "one survivor a name",
    OnlyBegunStepsAreFreed => "only begun steps are freed",
    OnlyKeptStepsAreGiven => "only kept steps are given",
    OnlyMembersAreGivenSteps => "only members are given steps",
    OnlyQuestionsAreAnswered => "only questions are answered",
    OnlyRanksAskedForAreToldOf => "only ranks that were asked for are told of, each once",
    OnlyWholeStepsAreGiven => "only whole steps are given",
    OnlyUnknownConditionsAreRefused => "only unknown conditions are refused",
    OpeningEndsByItsDeadline => "opening ends by its deadline",
    OpeningNamesItsEpoch => "an opening names its epoch",
    PatienceIsKept => "patience is kept",
    PolicyDropsOnlyWhatItMay => "a policy drops only what it may",
    QuestionOfObserverIsAnsweredInTime => "a question of an observer is answered in time",
    AnswersToRequestsAreTrue => "what is told of a request is what the ranks said",
    RequestsAreHandedOnOnce => "what is handed on was asked for, and is handed on once",
    PausesHold => "a pause holds every rank until its time is over, or somebody has them go on",
    RequestsCostBoundedNumberOfMessages => "requests cost a bounded number of messages, and none where nobody asks",
    RequestsAreSeenAtSameStep => "every rank sees the same requests at the same step",
    JudgementIsTrue => "what is told of what was measured is true",
    JudgementSaysWhenStepWasDecided => "a judgement says when the step was decided",
    QueueThatKeepsNewestKeepsIt => "a queue that keeps the newest keeps it",
    RanksAttachAsTheirLeadDoes => "ranks attach as their lead does",
    RedeliveredStepSaysSo => "a redelivered step says so",
    ReleaseMeansAllRanks => "a release means all ranks",
    RestartIsAnnounced => "a restart is announced",
    RestartSaysWhetherItsNumbersGoOn => "a restart says whether its numbers go on",
    ScalarsRideInDecision => "scalars ride in the decision",
    SkewIsBounded => "skew is bounded",
    SkippedStepsAreCounted => "skipped steps are counted",
    StandingSubscriptionsAreKept => "standing subscriptions are kept",
    StepIsFreedOnce => "a step is freed once",
    StepIsFreedWhenItIsReleased => "a step is freed when it is released",
    StepIsGivenToOneMember => "a step is given to one member",
    StepIsRejectedForReason => "a step is rejected for a reason",
    StepSatisfiesCondition => "a step satisfies the condition of whom it is given",
    StepsAreCountedFromFirst => "steps are counted from the first",
    StepsRise => "steps rise",
    StreamEndsWhenItsPublisherCloses => "a stream ends when its publisher closes",
    SubscriptionStartsAsSoonAsItCan => "a subscription starts as soon as it can",
    TableIdStandsForOneLayout => "a table id stands for one layout",
    TableTellsWhereEveryBlockIs => "a table tells where every block is",
    TableThatReturnsIsNotAskedForAgain => "a table that returns is not asked for again",
    UnchangedLayoutCostsFewBytes => "an unchanged layout costs a few bytes",
    ViewNeverShowsForeignBytes => "a view never shows foreign bytes",
    WaitForSubscriptionEnds => "a wait for a subscription ends",
    WhatIsReadIsWhatWasPut => "what is read is what was put",
    WhatNobodyAskedForIsNotStored => "what nobody asked for is not stored",
    WhatWasAskedForIsStored => "what was asked for is stored",
    WhatWasEncodedIsDecoded => "what was encoded is decoded",
    WhoAwaitsRestartDoesSo => "who awaits a restart does so",
    WhoCanAttachDoes => "who can attach does",
    WhoCanOpenDoes => "who can open does",
    WhoHeldWhatIsNamed => "who held what is named",
    WhoIsAttachedIsKnown => "who is attached is known",
    WhoIsGivenUpAsSilentIsToldSo => "who is given up as silent is told so",
    WhoIsNamedAsLateIsLate => "who is named as late is late",
    WhoIsNamedAsSilentIsSilent => "who is named as silent is silent",
    WhoIsShortOfMemoryTakesNoNewcomer => "who is short of memory takes no newcomer",
    WhoKeepsToProtocolIsNotBlamed => "who keeps to the protocol is not blamed",
    WhoLeftHasClosed => "who left has closed",
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}
