//! What was found, for people and for programs.

use std::io::Write;
use std::time::Duration;

use fp_core::diagnosis::{Measured, Probed};
use serde::Serialize;

/// All that was found.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// The contact that was tested; none: this machine with itself.
    contact: Option<String>,
    /// Whether at least one transport works between the two ends.
    pub(super) works: bool,
    /// Each transport, best first.
    transports: Vec<Transport>,
    /// What of this machine makes users fail.
    machine: Vec<Finding>,
}

/// One transport.
#[derive(Debug, Serialize)]
pub(super) struct Transport {
    /// Its name, as in `FLEXPATH_TRANSPORTS`.
    pub(super) name: &'static str,
    /// Whether bytes went over it and came unchanged.
    pub(super) works: bool,
    /// What was agreed between the two ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    /// Bytes that reach an array of the subscriber's in a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    bandwidth_bytes_per_s: Option<f64>,
    /// One way of a small message, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_us: Option<f64>,
    /// Bytes that were compared with what they should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    checked_bytes: Option<u64>,
    /// Why it does not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What to do about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// As it should be.
    Ok,
    /// It will hurt some.
    Warning,
    /// Streams cannot be opened.
    Failure,
}

/// Something of this machine.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    /// What was looked at.
    pub(super) name: &'static str,
    /// How bad it is.
    pub(super) state: State,
    /// What was found.
    pub(super) found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) advice: Option<String>,
}

impl Finding {
    /// All is well.
    pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, state: State::Ok, found: found.into(), advice: None }
    }

    /// Something should be done.
    pub(super) fn bad(
        name: &'static str,
        state: State,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { name, state, found: found.into(), advice: Some(advice.into()) }
    }
}

impl Transport {
    /// It works.
    pub(super) fn works(name: &'static str, probed: &Probed) -> Self {
        let measured = probed.measured;
        let figure = |of: fn(&Measured) -> f64| measured.as_ref().map(of);
        Self {
            works: true,
            link: Some(probed.link.clone()),
            bandwidth_bytes_per_s: figure(|measured| measured.bandwidth_bytes_per_s),
            latency_us: figure(|measured| measured.latency.as_secs_f64() * 1e6),
            checked_bytes: measured.map(|measured| measured.checked_bytes),
            ..Self::fails(name, String::new(), String::new())
        }
        .without_reason()
    }

    /// It does not, for this reason.
    pub(super) fn fails(name: &'static str, reason: String, advice: String) -> Self {
        Self {
            name,
            works: false,
            link: None,
            bandwidth_bytes_per_s: None,
            latency_us: None,
            checked_bytes: None,
            reason: Some(reason),
            advice: Some(advice),
        }
    }

    fn without_reason(self) -> Self {
        Self { reason: None, advice: None, ..self }
    }

    /// The figures, or the reason, in one line.
    fn text(&self) -> String {
        let link = self.link.as_deref().unwrap_or_default();
        match (&self.reason, self.bandwidth_bytes_per_s, self.latency_us) {
            (Some(reason), ..) => reason.clone(),
            (None, Some(bandwidth), Some(latency_us)) => {
                let latency = Duration::from_nanos((latency_us * 1e3) as u64);
                format!("{}, {} one way ({link})", rate(bandwidth), micros(latency))
            }
            _ => format!(
                "the handshake went through, with real bytes; a running stream is not asked for more ({link})"
            ),
        }
    }
}

impl Report {
    /// A report of these parts.
    pub(super) fn new(contact: Option<String>, transports: Vec<Transport>, machine: Vec<Finding>) -> Self {
        Self { contact, works: transports.iter().any(|transport| transport.works), transports, machine }
    }

    /// Prints a line for each thing, and below it what to do about it.
    pub(super) fn print(&self, out: &mut impl Write) -> std::io::Result<()> {
        match &self.contact {
            Some(contact) => writeln!(out, "transports to {contact}")?,
            None => writeln!(out, "transports from this machine to itself")?,
        }
        for transport in &self.transports {
            let state = if transport.works { "ok" } else { "no" };
            line(out, transport.name, state, &transport.text(), transport.advice.as_deref())?;
        }
        writeln!(out, "this machine")?;
        for finding in &self.machine {
            let state = match finding.state {
                State::Ok => "ok",
                State::Warning => "warning",
                State::Failure => "FAILS",
            };
            line(out, finding.name, state, &finding.found, finding.advice.as_deref())?;
        }
        Ok(())
    }
}

/// One line, and what to do indented below it.
fn line(
    out: &mut impl Write,
    name: &str,
    state: &str,
    text: &str,
    advice: Option<&str>,
) -> std::io::Result<()> {
    writeln!(out, "  {name:<14} {state:<8} {text}")?;
    match advice {
        Some(advice) if !advice.is_empty() => writeln!(out, "  {:<14} {:<8} -> {advice}", "", ""),
        _ => Ok(()),
    }
}

/// Bytes in a second, for people.
fn rate(bytes_per_s: f64) -> String {
    match bytes_per_s {
        fast if fast >= 1e9 => format!("{:.1} GB/s", fast / 1e9),
        middling if middling >= 1e6 => format!("{:.0} MB/s", middling / 1e6),
        slow => format!("{:.0} kB/s", slow / 1e3),
    }
}

/// A short time, for people.
fn micros(time: Duration) -> String {
    match time.as_secs_f64() * 1e6 {
        long if long >= 1e4 => format!("{:.1} ms", long / 1e3),
        short => format!("{short:.1} µs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_figures_reasons_and_what_to_do() {
        let works = Transport {
            link: Some("transport=shm".into()),
            bandwidth_bytes_per_s: Some(9.87e9),
            latency_us: Some(1.25),
            ..Transport::fails("shm", String::new(), String::new()).without_reason()
        };
        let transports = vec![
            Transport { works: true, ..works },
            Transport::fails("tcp", "not allowed by the policy".into(), "allow it".into()),
        ];
        let machine = vec![Finding::ok("loopback", "answers")];
        let report = Report::new(None, transports, machine);
        let mut out = Vec::new();
        report.print(&mut out).unwrap();
        let expected = "transports from this machine to itself\n  \
            shm            ok       9.9 GB/s, 1.2 µs one way (transport=shm)\n  \
            tcp            no       not allowed by the policy\n  \
            \u{20}                       -> allow it\n\
            this machine\n  \
            loopback       ok       answers\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert!(report.works);
    }

    #[test]
    fn figures_have_units_that_fit() {
        assert_eq!([rate(2.5e9), rate(47e6), rate(900.0)], ["2.5 GB/s", "47 MB/s", "1 kB/s"]);
        assert_eq!(
            [micros(Duration::from_nanos(1500)), micros(Duration::from_millis(20))],
            ["1.5 µs", "20.0 ms"]
        );
    }
}
