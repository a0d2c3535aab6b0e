//! What is told of a step, as text or as a line of JSON.

use fp_core::{Judgement, MeasuredNumber, Real, StepReader};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Number, Value};

/// A step, for programs.
#[derive(Debug, Serialize)]
struct StepLine<'a> {
    stream: &'a str,
    step: u64,
    /// Such steps that were passed over since the line before.
    skipped: u64,
    #[serde(flatten)]
    judgement: JudgementLine<'a>,
}

#[derive(Debug, Serialize)]
struct JudgementLine<'a> {
    measured: Vec<MeasuredLine<'a>>,
    /// Why it was not judged.
    unjudged: Option<String>,
    /// When it was decided, in UTC; null if no calendar has that.
    decided_at: Option<Timestamp>,
}

#[derive(Debug, Serialize)]
struct MeasuredLine<'a> {
    measure: &'a str,
    /// Null if no rank put an element, or if it is NaN or infinite. Of a quantile two: what it is at least and at most.
    number: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a [u64]>,
}

fn value(number: Option<MeasuredNumber>) -> Value {
    let real = |Real(number)| Number::from_f64(number).map_or(Value::Null, Value::Number);
    match number {
        Some(MeasuredNumber::Signed(number)) => number.into(),
        Some(MeasuredNumber::Unsigned(number)) => number.into(),
        Some(MeasuredNumber::Real(number)) => real(number),
        Some(MeasuredNumber::Bracket { low, high }) => vec![real(low), real(high)].into(),
        None => Value::Null,
    }
}

fn line(judgement: &Judgement) -> JudgementLine<'_> {
    let measured = judgement.measured.iter().map(|measured| MeasuredLine {
        measure: &measured.measure,
        number: value(measured.number),
        place: measured.place.as_deref(),
    });
    JudgementLine {
        measured: measured.collect(),
        unjudged: judgement.unjudged.as_ref().map(ToString::to_string),
        decided_at: decided_at(judgement),
    }
}

fn decided_at(judgement: &Judgement) -> Option<Timestamp> {
    Timestamp::from_microsecond(i64::try_from(judgement.decided_at_micros).ok()?).ok()
}

/// What was measured, as JSON.
pub(super) fn judgement_json(judgement: &Judgement) -> Result<String, serde_json::Error> {
    serde_json::to_string(&line(judgement))
}

/// A step as JSON.
pub(super) fn json(step: &StepReader, judgement: &Judgement) -> Result<String, serde_json::Error> {
    let (stream, number, skipped) = (step.stream(), step.step().0, step.skipped());
    serde_json::to_string(&StepLine { stream, step: number, skipped, judgement: line(judgement) })
}

/// A step as text: `step 12  max(T) = 9.5 at (3, 4)`.
pub(super) fn text(step: &StepReader, judgement: &Judgement) -> String {
    let skipped = match step.skipped() {
        0 => String::new(),
        skipped => format!(" ({skipped} skipped)"),
    };
    format!("step {}{skipped}{}", step.step(), judged(judgement))
}

/// The numbers, and why it was not judged; with two blanks before.
pub(super) fn judged(judgement: &Judgement) -> String {
    let mut parts: Vec<String> = Vec::new();
    for measured in &judgement.measured {
        let number = measured.number.map_or_else(|| "nothing".to_owned(), |number| number.to_string());
        let place = measured.place.as_ref().map_or_else(String::new, |place| {
            let indices: Vec<String> = place.iter().map(u64::to_string).collect();
            format!(" at ({})", indices.join(", "))
        });
        parts.push(format!("{} = {number}{place}", measured.measure));
    }
    parts.extend(judgement.unjudged.iter().map(|why| format!("not judged: {why}")));
    if parts.is_empty() { String::new() } else { format!("  {}", parts.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::{Measured, Rank, Unmeasured};

    #[test]
    fn numbers_are_told_with_their_places() {
        let measured = |measure: &str, number, place| Measured { measure: measure.to_owned(), number, place };
        let judgement = Judgement {
            decided_at_micros: 1_764_288_000_250_000,
            unjudged: Some(Unmeasured { rank: Rank(3), reason: "no time".to_owned() }),
            measured: vec![
                measured("max(T)", Some(MeasuredNumber::Real(Real(9.5))), Some(vec![3, 4])),
                measured("count(T > 5.0)", Some(MeasuredNumber::Unsigned(7)), None),
                measured("min(p)", None, None),
                measured(
                    "quantile(T, 0.5, 0.0..8.0 / 4)",
                    Some(MeasuredNumber::Bracket { low: Real(6.0), high: Real(f64::INFINITY) }),
                    None,
                ),
                measured("mean(T)", Some(MeasuredNumber::Real(Real(f64::NAN))), None),
            ],
        };
        let text = "  max(T) = 9.5 at (3, 4), count(T > 5.0) = 7, min(p) = nothing, \
                    quantile(T, 0.5, 0.0..8.0 / 4) = 6.0..inf, mean(T) = NaN, \
                    not judged: publisher rank 3 did not measure: no time";
        assert_eq!(judged(&judgement), text);
        let json = r#"{"measured":[{"measure":"max(T)","number":9.5,"place":[3,4]},{"measure":"count(T > 5.0)","number":7},{"measure":"min(p)","number":null},{"measure":"quantile(T, 0.5, 0.0..8.0 / 4)","number":[6.0,null]},{"measure":"mean(T)","number":null}],"unjudged":"publisher rank 3 did not measure: no time","decided_at":"2025-11-28T00:00:00.25Z"}"#;
        assert_eq!(judgement_json(&judgement).expect("JSON"), json);
        let never = Judgement { decided_at_micros: u64::MAX, ..Judgement::default() };
        let json = r#"{"measured":[],"unjudged":null,"decided_at":null}"#;
        assert_eq!(judgement_json(&never).expect("JSON"), json);
    }
}
