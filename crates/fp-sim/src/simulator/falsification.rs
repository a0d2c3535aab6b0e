//! What goes wrong on purpose in a run that an oracle must stop. It is a mistake in every machine, or something false
//! that the oracles are shown. With both together every rule fires, so none is a rule that cannot.

use fp_proto::mutation::Mutation;

/// What is wrong in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Every machine makes this mistake.
    Mutation(Mutation),
    /// The machines are right, and this is shown instead of what they do.
    Falsification(Falsification),
}

impl Flaw {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        let mutations = Mutation::ALL.into_iter().map(Self::Mutation);
        mutations.chain(Falsification::ALL.iter().copied().map(Self::Falsification))
    }

    /// Its name.
    pub fn name(self) -> String {
        match self {
            Self::Mutation(mutation) => format!("{mutation:?}"),
            Self::Falsification(falsification) => format!("{falsification:?}"),
        }
    }
}

/// Lists what can be falsified.
macro_rules! falsifications {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// Something false that takes the place of what a machine does, or of what happens to it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Falsification {
            $($(#[doc = $doc])* $name,)*
        }

        impl Falsification {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

falsifications! {
    /// A rank that is not the lead hears that a step goes to another member.
    AnotherMemberHeard,
    /// The lead gives step 0 in place of another.
    FirstStepAssigned,
    /// The lead gives the step after the right one.
    NextStepAssigned,
    /// The lead gives a step that it passed over before.
    PassedStepAssigned,
    /// The lead gives a step to nobody that it knows.
    StrangerAssigned,
    /// The lead gives a step twice.
    AssignedTwice,
    /// A step is given, and said to be dropped.
    AssignedAndDropped,
    /// Memory is retired whenever it is freed.
    AlwaysRetired,
    /// A step is freed that was never begun.
    UnbegunFreed,
    /// A step is freed twice.
    FreedTwice,
    /// No step is freed.
    NeverFreed,
    /// A publisher rank opens another epoch.
    OtherEpochOpened,
    /// A subscriber rank attaches to another epoch.
    OtherEpochAttached,
    /// A rank that is not the lead hears that a subscription starts a step later.
    StartHeardLater,
    /// A close that left something held is called clean.
    CleanAlthoughHeld,
    /// A close that left something held names nobody.
    HeldByNobody,
    /// A close ends long after its deadline.
    ClosedLate,
    /// Opening ends long after its deadline.
    OpenedLate,
    /// No publisher opens.
    NeverOpened,
    /// A subscriber is not told that its stream is over.
    EndUntold,
    /// A subscriber hears what only publishers hear.
    EventOfOthers,
    /// A publisher that is lost is said to have closed.
    LossCalledClose,
    /// A subscriber is denied a stream that has no access list.
    DeniedWithoutList,
    /// A member joins under the name of nobody.
    StrangerJoins,
    /// A member that is lost or expelled is said to have left.
    LossCalledLeave,
    /// A restart names a later first step.
    RestartHeardLater,
    /// Whether numbers go on is told the other way round.
    ContinuesTurned,
    /// A question is answered by another number.
    OtherQuestionAnswered,
    /// A rank is told the contact of another.
    OtherContactTold,
    /// Contacts are told twice.
    ContactsToldTwice,
    /// A step is told with a byte more than it has.
    ByteMoreTold,
    /// Whether a step was given before is told the other way round.
    RedeliveredTurned,
    /// Values of scalars are lost on their way.
    ScalarsLost,
    /// A subscription is told a first step far in the future.
    FarStartTold,
    /// A publisher's lead admits members unheard.
    MembersUnheard,
    /// A link breaks by itself.
    LinkBroken,
    /// A message loses its last byte.
    MessageCut,
    /// Observers are not answered.
    ObserversUnanswered,
    /// A rank that answered an observer is called silent.
    AnswerCalledSilence,
    /// Answers to observers are a thousand times as long.
    LongAnswers,
    /// A rank begins the step after the right one.
    NextStepBegun,
    /// A step is begun for nobody.
    BegunForNobody,
    /// A wait has no deadline.
    EndlessWait,
    /// A step is begun in vain.
    BeginRefused,
    /// What makes no sense is done.
    MisuseDone,
    /// A subscriber rank has closed before it takes a step.
    TakenAfterClose,
    /// A subscriber rank is not told that it is attached.
    AttachedUnheard,
    /// A subscriber rank takes a step with another number of skipped ones.
    OtherSkippedTaken,
    /// After a restart a subscriber rank takes a step with another number of skipped ones.
    OtherSkippedAfterRestart,
    /// An owner has nothing that it is asked for.
    NothingServed,
    /// What is put is changed on its way to memory.
    OtherValuesStored,
    /// Memory is used again while somebody looks at it.
    ViewReused,
    /// A machine panics.
    Panic,
    /// Something happens again and again at one moment.
    Storm,
    /// Every message is sent a thousand times, and a thousand times as long.
    ThousandfoldTraffic,
}
