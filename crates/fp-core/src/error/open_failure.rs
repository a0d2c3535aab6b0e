//! Why an opening came to nothing, in words: who was looked for, where, and what to do.

use fp_proto::config::ContactText;
use fp_proto::event::{OpenFailure, OpenWait, Seen};
use fp_transport::{Contact, HostId};
use fp_types::Rank;

/// What happened, in words.
pub(crate) fn describe_failure(
    failure: &OpenFailure,
    rank: Rank,
    directory: &str,
    dials: &[(String, String)],
) -> String {
    match failure {
        OpenFailure::Refused(reason) => format!("refused: {reason}"),
        OpenFailure::RankLost { rank, reason } => format!("rank {rank} of the own cohort is lost: {reason}"),
        OpenFailure::TimedOut(OpenWait::Ranks { present, size }) => {
            format!(
                "timed out: {present} of {size} ranks of the own cohort are here; are the others running?"
            )
        }
        OpenFailure::TimedOut(OpenWait::Lead) => {
            "timed out waiting for the lead of the own cohort".to_owned()
        }
        OpenFailure::TimedOut(OpenWait::Publisher) => {
            "timed out waiting for the publisher's answer".to_owned()
        }
        // Only the lead looks for others than its own lead.
        OpenFailure::TimedOut(OpenWait::Name { name, seen }) if seen.is_empty() && !rank.is_lead() => {
            format!(
                "timed out: rank 0 of the own cohort is not here: there is no entry of {name:?} in {directory}; start it, with the same FLEXPATH_RENDEZVOUS, or say that this rank is alone"
            )
        }
        OpenFailure::TimedOut(OpenWait::Name { name, seen }) => describe_search(name, seen, directory, dials),
    }
}

/// Who has a name, as its entry says.
pub(crate) fn holder(contact: Option<&Contact>) -> String {
    match contact {
        None => "a process that is alive".to_owned(),
        Some(contact) if HostId::own().matches(contact.host) => {
            format!("process {} of this machine", contact.pid)
        }
        Some(contact) => format!("process {} of another machine ({contact})", contact.pid),
    }
}

fn describe_search(
    name: &str,
    seen: &[(ContactText, Seen)],
    directory: &str,
    dials: &[(String, String)],
) -> String {
    if seen.is_empty() {
        return format!(
            "timed out: no entry of {name:?} in {directory}; is the publisher running, and with the same FLEXPATH_RENDEZVOUS?"
        );
    }
    let dialled =
        |contact: &str| dials.iter().find(|(known, _)| known == contact).map(|(_, why)| why.as_str());
    let what = |contact: &str, seen: &Seen| match seen {
        Seen::Unreachable => {
            let is_near = contact.parse().is_ok_and(|contact: Contact| !contact.is_out_of_reach());
            let (what, why) = if is_near {
                ("a stale entry: ", "nobody answers there")
            } else {
                ("", "it cannot be reached")
            };
            format!("{what}{}", dialled(contact).unwrap_or(why))
        }
        Seen::OtherEpoch => "somebody else answers there".to_owned(),
        Seen::Claiming => "it is still opening".to_owned(),
        Seen::Refused => "it is closing or belongs to another run".to_owned(),
    };
    let list: Vec<String> =
        seen.iter().map(|(contact, seen)| format!("{} ({})", contact.0, what(&contact.0, seen))).collect();
    format!("timed out: entries of {name:?} in {directory}: {}", list.join("; "))
}
