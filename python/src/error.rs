//! Errors by whose fault they are, as exceptions of the package, with the same texts.

use flexpath::{
    BeginError, CloseError, ConditionError, DerivationError, FindError, OpenError, PutError, ReadError,
    RecordBlockError, RefusalReason, RequestError, SteeringRefusal, SyncError, VariableError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::fmt::Display;

/// Whose fault it is: the exception's name in `flexpath._errors`.
#[derive(Clone, Copy)]
pub(crate) enum Guilt {
    Misuse,
    Incompatible,
    Lost,
    PeerMisbehaved,
    Io,
    TimedOut,
    Denied,
    NotTaken,
}

static CLASSES: [PyOnceLock<Py<PyType>>; 8] = [const { PyOnceLock::new() }; 8];

impl Guilt {
    fn name(self) -> &'static str {
        match self {
            Self::Misuse => "Misuse",
            Self::Incompatible => "Incompatible",
            Self::Lost => "Lost",
            Self::PeerMisbehaved => "PeerMisbehaved",
            Self::Io => "Io",
            Self::TimedOut => "TimedOut",
            Self::Denied => "Denied",
            Self::NotTaken => "NotTaken",
        }
    }
}

/// An exception of the package.
pub(crate) fn raise(guilt: Guilt, text: impl Display) -> PyErr {
    let text = text.to_string();
    Python::attach(|py| {
        let class = CLASSES[guilt as usize].import(py, "flexpath._errors", guilt.name());
        class.map_or_else(|error| error, |class| PyErr::from_type(class.clone(), text))
    })
}

pub(crate) fn misuse(text: impl Display) -> PyErr {
    raise(Guilt::Misuse, text)
}

/// Errors of the library, by whose fault they are.
pub(crate) trait Guilty: Display {
    fn guilt(&self) -> Guilt;
}

pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T, E: Guilty> OrRaise<T> for Result<T, E> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| raise(error.guilt(), error))
    }
}

impl Guilty for OpenError {
    fn guilt(&self) -> Guilt {
        match self {
            Self::Refused { .. } | Self::Denied { .. } | Self::NotTrusted { .. } => Guilt::Denied,
            Self::Types { source } => source.guilt(),
            Self::TooFewSubscribers { .. } => Guilt::TimedOut,
            Self::Listen { .. } | Self::Rendezvous(_) | Self::Io { .. } | Self::Gather { .. } => Guilt::Io,
            Self::Failed { .. } if self.is_retryable() => Guilt::TimedOut,
            Self::Failed { .. } | Self::Coordinator { .. } => Guilt::Lost,
            _ => Guilt::Misuse,
        }
    }
}

impl Guilty for BeginError {
    fn guilt(&self) -> Guilt {
        match self {
            Self::TimedOut { .. } => Guilt::TimedOut,
            Self::Lost { .. } | Self::Coordinator { .. } => Guilt::Lost,
            _ => Guilt::Misuse,
        }
    }
}

impl Guilty for PutError {
    fn guilt(&self) -> Guilt {
        match self {
            Self::Memory { .. } => Guilt::Io,
            Self::Lost { .. } => Guilt::Lost,
            _ => Guilt::Misuse,
        }
    }
}

impl Guilty for ReadError {
    fn guilt(&self) -> Guilt {
        match self {
            Self::Lost { .. } | Self::NoLayout { .. } | Self::Gone { .. } | Self::Coordinator { .. } => {
                Guilt::Lost
            }
            Self::Denied { .. } => Guilt::Denied,
            Self::TimedOut { .. } | Self::NoStep { .. } => Guilt::TimedOut,
            Self::PeerMisbehaved { .. } => Guilt::PeerMisbehaved,
            Self::Incompatible { .. }
            | Self::Records { .. }
            | Self::NotTransformed { .. }
            | Self::NotDerived { .. }
            | Self::NotProvided { .. } => Guilt::Incompatible,
            _ => Guilt::Misuse,
        }
    }
}

impl Guilty for RequestError {
    fn guilt(&self) -> Guilt {
        match self {
            Self::Refused { refusal: SteeringRefusal::Denied(_), .. } => Guilt::Denied,
            Self::Refused { .. } | Self::Declined { .. } => Guilt::NotTaken,
            Self::NoAnswer { .. } | Self::NoParameters { .. } => Guilt::TimedOut,
            Self::Over { .. } | Self::Unanswered { .. } => Guilt::Lost,
            _ => Guilt::Misuse,
        }
    }
}

impl Guilty for ConditionError {
    fn guilt(&self) -> Guilt {
        match self {
            Self::Refused { reason: RefusalReason::Denied(_), .. } => Guilt::Denied,
            Self::Refused { .. } => Guilt::NotTaken,
            Self::NoAnswer { .. } => Guilt::TimedOut,
            Self::Over { .. } => Guilt::Lost,
            _ => Guilt::Misuse,
        }
    }
}

impl Guilty for CloseError {
    fn guilt(&self) -> Guilt {
        match self {
            Self::Held { .. } => Guilt::TimedOut,
            Self::Lost { .. } | Self::Coordinator { .. } => Guilt::Lost,
            _ => Guilt::Misuse,
        }
    }
}

impl Guilty for SyncError {
    fn guilt(&self) -> Guilt {
        match self {
            Self::Held { .. } => Guilt::TimedOut,
            Self::Lost { .. } | Self::Coordinator { .. } => Guilt::Lost,
            _ => Guilt::Misuse,
        }
    }
}

/// Errors that are always the caller's.
macro_rules! misuses {
    ($($error:ty),* $(,)?) => {
        $(impl Guilty for $error {
            fn guilt(&self) -> Guilt {
                Guilt::Misuse
            }
        })*
    };
}

misuses!(
    DerivationError,
    RecordBlockError,
    VariableError,
    flexpath::CohortError,
    flexpath::ParseConditionError,
    flexpath::TooManyDims,
    flexpath::RegionError,
    flexpath::StrideError,
    flexpath::TokenFileError,
    flexpath::TlsError,
    flexpath::PolicyError,
    flexpath::LimitError,
    flexpath::rendezvous::RendezvousError,
    flexpath::record::RecordError,
    flexpath::record::RecordBuildError,
    flexpath::record::ValueError,
    flexpath::record::RecordReadError,
);

impl Guilty for FindError {
    fn guilt(&self) -> Guilt {
        Guilt::Io
    }
}

impl Guilty for flexpath::diagnosis::status::StatusError {
    fn guilt(&self) -> Guilt {
        Guilt::TimedOut
    }
}
