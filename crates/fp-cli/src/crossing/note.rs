//! The notes between `forward` and `gate`, as JSON: they are few, and whoever looks at them can read them.

use std::io;

use super::wanted::Wanted;
use fp_core::connection::Connection;
use fp_core::{AttributeValue, Epoch, ParameterRequest, SteeringOutcome, StepId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The newest version of what they say to each other. A gate knows all before it as well.
pub(crate) const VERSION: u32 = 4;

/// The one in which no request comes back.
pub(crate) const VERSION_RUNS: u32 = 3;

/// The one in which no gate is told that a run begins anew.
pub(crate) const VERSION_SELECTED: u32 = 2;

/// The one that all gates know: blocks cross as they are, and all variables.
pub(crate) const VERSION_PLAIN: u32 = 1;

/// A step, among all openings of its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    #[serde(serialize_with = "put_epoch", deserialize_with = "epoch")]
    pub(crate) epoch: Epoch,
    #[serde(serialize_with = "put_step", deserialize_with = "step")]
    pub(crate) step: StepId,
}

/// What a subscriber of the gate asks of the simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// No other request of any gate has it, as far as a `forward` sees.
    pub(crate) number: u64,
    /// The opening that the subscriber's steps are of.
    #[serde(serialize_with = "put_epoch", deserialize_with = "epoch")]
    pub(crate) epoch: Epoch,
    pub(crate) parameter: String,
    pub(crate) value: AttributeValue,
    /// What the subscriber calls itself.
    pub(crate) by: String,
    /// Whether it is urgent.
    pub(crate) now: bool,
}

impl Request {
    pub(crate) fn of(request: &ParameterRequest, number: u64, epoch: Epoch) -> Self {
        let (parameter, by) = (request.parameter().to_owned(), request.by().to_owned());
        Self { number, epoch, parameter, value: request.value().clone(), by, now: request.is_urgent() }
    }
}

/// What one of the two says to the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Note {
    /// `forward`, first: it brings this stream. The same process says the same `forward` again after a cut.
    Offer { version: u32, stream: String, forward: String, subscribers: u32 },
    /// `gate`, then: the last step that it has, those up to it that it still needs, and how many it keeps in any case. In
    /// version 2 also which variables are to cross.
    Welcome {
        has: Option<Mark>,
        pending: Vec<Mark>,
        reserve: u32,
        #[serde(default, skip_serializing_if = "Wanted::is_all")]
        wanted: Wanted,
    },
    /// `gate`: it does not take the stream; whether it is worth another try.
    Refused { why: String, again: bool },
    /// `forward`, before the first step of a connection: blocks are compressed. Of version 2.
    Compressed,
    /// `forward`, before the steps of an opening: the number of its next step, and how many ranks its publisher has. In
    /// version 3 also that it is of another run than any that a gate had steps of. Of that none comes before the answer.
    Opening {
        next: Mark,
        ranks: u32,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        begins_anew: bool,
    },
    /// `gate`: nobody there has to do with the run before any more. From now on the run that begins anew is the one that
    /// goes on. Of version 3.
    Opened {
        #[serde(serialize_with = "put_epoch", deserialize_with = "epoch")]
        epoch: Epoch,
    },
    /// `gate`: all subscribers have taken it, and it is in no reserve, or no step has come for a while.
    Taken(Mark),
    /// `gate`: from now on these variables are to cross. Of version 2.
    Wanted(Wanted),
    /// `gate`: a subscriber asks this of the simulation. The same `forward` may be told again, over another connection. It
    /// asks once. Of version 4.
    Request(Request),
    /// `forward`: what became of the request of that number. Of version 4.
    Answered { number: u64, outcome: SteeringOutcome },
    /// `gate`: how many subscriptions there are now.
    Subscribers(u32),
    /// `forward`: no step comes any more. `gate`, then: all were taken, and its subscribers know. `forward`, at last: it has
    /// heard that.
    Ended,
}

impl Note {
    /// Says it.
    pub(crate) fn tell(&self, connection: &Connection) -> io::Result<()> {
        connection.tell(&serde_json::to_vec(self)?)
    }

    /// What was said.
    pub(crate) fn read(bytes: &[u8]) -> io::Result<Self> {
        serde_json::from_slice(bytes).map_err(|error| {
            io::Error::new(io::ErrorKind::InvalidData, format!("it says what means nothing here: {error}"))
        })
    }
}

fn put_epoch<S: Serializer>(epoch: &Epoch, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&format!("{:032x}", epoch.0))
}

fn epoch<'de, D: Deserializer<'de>>(from: D) -> Result<Epoch, D::Error> {
    let text = String::deserialize(from)?;
    u128::from_str_radix(&text, 16).map(Epoch).map_err(serde::de::Error::custom)
}

// A serializer is given references.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn put_step<S: Serializer>(step: &StepId, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u64(step.0)
}

fn step<'de, D: Deserializer<'de>>(from: D) -> Result<StepId, D::Error> {
    u64::deserialize(from).map(StepId)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::{Parameter, ParameterKind, Rank, SteeringRefusal, VariableSet};
    use std::time::Duration;

    /// What is said by this version is said so for ever.
    #[test]
    fn notes_are_these_texts() {
        let mark = Mark { epoch: Epoch(0xab), step: StepId(7) };
        let some = || Wanted::of(VariableSet::named(["b", "a"]));
        let told = r#"{"epoch":"000000000000000000000000000000ab","step":7}"#;
        for (note, text) in [
            (
                Note::Offer { version: 1, stream: "sim".to_owned(), forward: "f".to_owned(), subscribers: 2 },
                r#"{"offer":{"version":1,"stream":"sim","forward":"f","subscribers":2}}"#.to_owned(),
            ),
            (
                Note::Welcome { has: Some(mark), pending: vec![mark], reserve: 9, wanted: Wanted::default() },
                format!(r#"{{"welcome":{{"has":{told},"pending":[{told}],"reserve":9}}}}"#),
            ),
            (
                Note::Refused { why: "no".to_owned(), again: true },
                r#"{"refused":{"why":"no","again":true}}"#.to_owned(),
            ),
            (
                Note::Opening { next: mark, ranks: 3, begins_anew: false },
                format!(r#"{{"opening":{{"next":{told},"ranks":3}}}}"#),
            ),
            (
                Note::Opening { next: mark, ranks: 3, begins_anew: true },
                format!(r#"{{"opening":{{"next":{told},"ranks":3,"begins_anew":true}}}}"#),
            ),
            (
                Note::Opened { epoch: mark.epoch },
                r#"{"opened":{"epoch":"000000000000000000000000000000ab"}}"#.to_owned(),
            ),
            (Note::Taken(mark), format!(r#"{{"taken":{told}}}"#)),
            (Note::Subscribers(4), r#"{"subscribers":4}"#.to_owned()),
            (Note::Ended, r#""ended""#.to_owned()),
            (Note::Compressed, r#""compressed""#.to_owned()),
            (
                Note::Welcome { has: None, pending: Vec::new(), reserve: 0, wanted: some() },
                r#"{"welcome":{"has":null,"pending":[],"reserve":0,"wanted":["a","b"]}}"#.to_owned(),
            ),
            (Note::Wanted(some()), r#"{"wanted":["a","b"]}"#.to_owned()),
            (Note::Wanted(Wanted::default()), r#"{"wanted":null}"#.to_owned()),
        ] {
            is_said(&note, &text);
        }
    }

    fn is_said(note: &Note, text: &str) {
        assert_eq!(serde_json::to_string(note).unwrap(), text);
        assert_eq!(Note::read(text.as_bytes()).unwrap(), *note);
    }

    #[test]
    fn requests_and_answers_are_these_texts() {
        let (parameter, by) = ("level".to_owned(), "viewer".to_owned());
        let epoch = Epoch(0xab);
        let request = Request { number: u64::MAX, epoch, parameter, value: 0.1.into(), by, now: true };
        let text = concat!(
            r#"{"request":{"number":18446744073709551615,"epoch":"000000000000000000000000000000ab","#,
            r#""parameter":"level","value":{"Real":"0.1"},"by":"viewer","now":true}}"#
        );
        is_said(&Note::Request(request), text);
        for (outcome, text) in answers() {
            let text = format!(r#"{{"answered":{{"number":7,"outcome":{text}}}}}"#);
            is_said(&Note::Answered { number: 7, outcome }, &text);
        }
    }

    /// What may become of a request, and how that is said.
    fn answers() -> impl Iterator<Item = (SteeringOutcome, &'static str)> {
        let (step, reason) = (StepId(7), || "why".to_owned());
        let range = ParameterKind::Real { least: f64::NEG_INFINITY.into(), greatest: 0.5.into() };
        let kinds = [
            (range, r#"{"Real":{"least":"-inf","greatest":"0.5"}}"#),
            (ParameterKind::Integer { least: -1, greatest: 2 }, r#"{"Integer":{"least":-1,"greatest":2}}"#),
            (ParameterKind::Bool, r#""Bool""#),
            (ParameterKind::Text, r#""Text""#),
            (ParameterKind::Signal, r#""Signal""#),
            (ParameterKind::Pause { longest: Duration::from_secs(2) }, r#"{"Pause":{"longest":2000}}"#),
            (ParameterKind::Resume, r#""Resume""#),
        ];
        let known = kinds.map(|(kind, text)| {
            let parameter = Parameter { name: "a".to_owned(), kind, text: String::new() };
            assert_eq!(
                serde_json::to_string(&parameter).unwrap(),
                format!(r#"{{"name":"a","kind":{text},"text":""}}"#)
            );
            parameter
        });
        let [_, whole, ..] = known.clone();
        let json = serde_json::to_string(&known).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Parameter>>(&json).unwrap(), known);
        let refused = SteeringOutcome::Refused;
        [
            (SteeringOutcome::Applied { step }, r#"{"Applied":{"step":7}}"#),
            (
                SteeringOutcome::Declined { step, rank: Rank(3), reason: reason() },
                r#"{"Declined":{"step":7,"rank":3,"reason":"why"}}"#,
            ),
            (SteeringOutcome::Over, r#""Over""#),
            (SteeringOutcome::Unanswered { reason: reason() }, r#"{"Unanswered":{"reason":"why"}}"#),
            (
                refused(SteeringRefusal::Unknown { known: vec![whole] }),
                concat!(
                    r#"{"Refused":{"Unknown":{"known":[{"name":"a","#,
                    r#""kind":{"Integer":{"least":-1,"greatest":2}},"text":""}]}}}"#
                ),
            ),
            (refused(SteeringRefusal::Value { takes: reason() }), r#"{"Refused":{"Value":{"takes":"why"}}}"#),
            (refused(SteeringRefusal::Busy { limit: 16 }), r#"{"Refused":{"Busy":{"limit":16}}}"#),
            (refused(SteeringRefusal::Closing), r#"{"Refused":"Closing"}"#),
            (
                refused(SteeringRefusal::TooOften { per_second: 9 }),
                r#"{"Refused":{"TooOften":{"per_second":9}}}"#,
            ),
            (
                refused(SteeringRefusal::Unreachable { reason: reason() }),
                r#"{"Refused":{"Unreachable":{"reason":"why"}}}"#,
            ),
        ]
        .into_iter()
    }

    #[test]
    fn numbers_cross_as_they_are() {
        for real in [f64::NAN, f64::NEG_INFINITY, -0.0, 5e-324, f64::MAX, 0.1 + 0.2] {
            let told = serde_json::to_string(&AttributeValue::from(real)).unwrap();
            assert_eq!(serde_json::from_str::<AttributeValue>(&told).unwrap(), real.into(), "{told}");
        }
    }

    #[test]
    fn other_texts_are_no_notes() {
        for text in ["", "{", "\"begun\"", r#"{"taken":{"epoch":"x","step":1}}"#, r#"{"subscribers":-1}"#] {
            let error = Note::read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("it says what means nothing here: "), "{error}");
        }
    }
}
