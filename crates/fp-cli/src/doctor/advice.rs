//! What to do about a transport that does not work.

use fp_core::Refusal;
use fp_core::diagnosis::{ListenError, ProbeError, Reason};

/// What settings have to agree where TLS is spoken.
const TLS: &str = "set FLEXPATH_TLS_CERTIFICATE, FLEXPATH_TLS_KEY and FLEXPATH_TLS_AUTHORITY on both sides, or on neither \
                   (here also --tls-certificate, --tls-key, --tls-authority); \
                   both certificates must be of that authority and hold the same name (FLEXPATH_TLS_NAME)";

/// What to do about an error of a probe.
pub(super) fn of(error: &ProbeError) -> String {
    let advice = match error {
        ProbeError::Policy(_) => "FLEXPATH_TRANSPORTS is a list such as shm,tcp",
        ProbeError::Token(_) => "flexpath token --out FILE makes one; every rank needs the same",
        ProbeError::Address(_) => "FLEXPATH_LISTEN is an address with a port, such as 192.0.2.7:0, or none",
        ProbeError::Tls(_) => "correct what the variables FLEXPATH_TLS_... name, or unset all of them",
        ProbeError::Listen(ListenError::TokenNeeded { .. }) => {
            "Give it a token (flexpath token --out run.token) with --token-file run.token, or TLS"
        }
        ProbeError::Listen(ListenError::Unadvertised { .. }) => "Name that address with --advertise",
        ProbeError::Listen(_) => "Listen on an address of this machine, with port 0 for one that is free",
        ProbeError::Refused(reason) => of_reason(reason),
        ProbeError::Deadline { .. } => {
            "the other side is stopped, or something on the way drops packets (a firewall); more time: --timeout"
        }
        // Each says in its own words what to do.
        ProbeError::Verbs(_) => "",
        ProbeError::Memory(_) => "free memory, or raise the limit of the control group",
        ProbeError::Link(_) => "the other side went while bytes were on their way: look at what it says",
        ProbeError::Answer { .. } | ProbeError::Content { .. } | _ => {
            "this is no matter of settings: please report it with this output"
        }
    };
    advice.to_owned()
}

fn of_reason(reason: &Reason) -> &'static str {
    match reason {
        Reason::NotAllowed => "allow it with --transports or FLEXPATH_TRANSPORTS",
        Reason::OtherProcess | Reason::OtherCopy => {
            "nothing: it is for a subscriber within the publisher's own process"
        }
        Reason::OtherHost => {
            "nothing: shared memory ends at the host, or at the container's network namespace"
        }
        Reason::HostUnknown => "give the whole contact, as the other side prints it",
        Reason::NoEndpoint => "nothing here: the other side does not offer it",
        Reason::NoSeals => "Linux 5.1 or newer is needed for it",
        Reason::Uid { .. } => "run both sides as the same user",
        Reason::OverflowUid { .. } => "run both sides in the same user namespace",
        Reason::Io { .. } => "is the other side still running, and does a firewall let its port through?",
        Reason::OtherAnswered { .. } => "the contact is out of date: take the one that is printed now",
        Reason::BadAnswer => "something else listens there: take the contact that is printed now",
        // It says in its own words what to do.
        Reason::Verbs(_) => "",
        Reason::Tls(_) | Reason::Refused(Refusal::TlsNeeded | Refusal::TlsAbsent) => TLS,
        Reason::Refused(Refusal::Token) => "name the run's token with --token-file or FLEXPATH_TOKEN_FILE",
        Reason::Refused(Refusal::Busy) => {
            "try again in a moment; see the limit of descriptors on the other side"
        }
        Reason::Refused(Refusal::Version { .. }) => "install versions of Flexpath that speak to each other",
        Reason::Probe { .. } | Reason::Refused(_) | _ => "see what the other side logs (FLEXPATH_LOG=debug)",
    }
}
