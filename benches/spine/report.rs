//! What was found: medians, quantiles, rows of the table, and the same as JSON.

use crate::bench::{Around, Rounds};
use serde_json::{Value, json};

/// That part of the values lies below this one.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(((sorted.len().max(1) - 1) as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
}

/// The middle value.
pub(crate) fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// What a figure has to be.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// A ratio of at least this.
    RatioAtLeast(f64),
    /// A ratio of at most this.
    RatioAtMost(f64),
    /// A figure below this, in its own unit.
    Below(f64),
    /// A figure of just this.
    Exactly(f64),
    /// For information.
    None,
}

impl Target {
    fn text(self) -> String {
        match self {
            Self::RatioAtLeast(bound) => format!("ratio >= {bound}"),
            Self::RatioAtMost(bound) => format!("ratio <= {bound}"),
            Self::Below(bound) => format!("< {bound}"),
            Self::Exactly(value) => format!("= {value}"),
            Self::None => "-".to_owned(),
        }
    }

    fn is_met(self, ours: f64, ratio: Option<f64>) -> Option<bool> {
        match self {
            Self::RatioAtLeast(bound) => ratio.map(|ratio| ratio >= bound),
            Self::RatioAtMost(bound) => ratio.map(|ratio| ratio <= bound),
            Self::Below(bound) => Some(ours < bound),
            Self::Exactly(value) => Some(ours == value),
            Self::None => None,
        }
    }
}

/// One line of the table.
pub(crate) struct Row {
    case: String,
    unit: &'static str,
    ours: f64,
    baseline: Option<f64>,
    ratio: Option<f64>,
    target: Target,
    around: Option<Around>,
    note: String,
}

impl Row {
    /// A figure and its target.
    pub(crate) fn new(case: impl Into<String>, unit: &'static str, ours: f64, target: Target) -> Self {
        let (baseline, ratio, note) = (None, None, String::new());
        Self { case: case.into(), unit, ours, baseline, ratio, target, around: None, note }
    }

    /// With what the machine did meanwhile.
    #[must_use]
    pub(crate) fn under(mut self, around: Around) -> Self {
        self.around = Some(around);
        self
    }

    /// With what it is measured against. The ratio is ours to that.
    #[must_use]
    pub(crate) fn against(mut self, baseline: f64) -> Self {
        self.baseline = Some(baseline);
        self.ratio = Some(self.ours / baseline);
        self
    }

    /// The middle of what rounds found, ours and the baseline's. The ratio is the middle one of the rounds' ratios, as
    /// both sides of a round saw the same machine.
    pub(crate) fn of_rounds(
        case: impl Into<String>,
        unit: &'static str,
        rounds: &Rounds<(f64, f64)>,
        target: Target,
    ) -> Self {
        let (own, base): (Vec<f64>, Vec<f64>) = rounds.found.iter().copied().unzip();
        let ratios: Vec<f64> = rounds.found.iter().map(|(own, base)| own / base).collect();
        let mut row = Self::new(case, unit, median(&own), target).against(median(&base)).under(rounds.around);
        row.ratio = Some(median(&ratios));
        row
    }

    /// With something to know about it.
    #[must_use]
    pub(crate) fn noting(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// Prints it.
    pub(crate) fn print(&self) {
        let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), short);
        println!(
            "{:<44} {:>9} {:>9} {:<5} {:>6} {:<13} {:<7} {:>4} {:>4}  {}",
            self.case,
            short(self.ours),
            optional(self.baseline),
            self.unit,
            optional(self.ratio),
            self.target.text(),
            self.verdict(),
            optional(self.around.map(|around| around.others_percent.round())),
            optional(self.around.map(|around| around.hop_ns.round())),
            self.note
        );
    }

    fn verdict(&self) -> &'static str {
        match self.target.is_met(self.ours, self.ratio) {
            Some(true) => "met",
            Some(false) => "missed",
            None => "",
        }
    }

    /// The row for a program.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "case": self.case, "unit": self.unit, "ours": self.ours, "baseline": self.baseline,
            "ratio": self.ratio, "target": self.target.text(),
            "met": self.target.is_met(self.ours, self.ratio),
            "others_percent": self.around.map(|around| around.others_percent),
            "hop_ns": self.around.map(|around| around.hop_ns), "note": self.note,
        })
    }
}

/// The table's head.
pub(crate) fn print_head() {
    println!(
        "{:<44} {:>9} {:>9} {:<5} {:>6} {:<13} {:<7} {:>4} {:>4}",
        "case", "ours", "baseline", "unit", "ratio", "target", "", "load", "hop"
    );
}

fn short(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
