//! Plots of runs, from their JSON: the axes of the paper's figures 6, 7 and 8. Every curve is simulated; of the paper's
//! figures only what its text says in numbers is drawn.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 120.0;
const COLOURS: [&str; 5] = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#b8860b"];
/// Data of a publisher rank in a step: 610 MB over 1,024 ranks (table I of the paper).
const RANK_BYTES: f64 = 610e6 / 1024.0;

/// A curve: its name and its points.
struct Curve {
    name: String,
    points: Vec<(f64, f64)>,
}

/// What one plot shows, both axes logarithmic.
struct Plot {
    title: &'static str,
    x_label: &'static str,
    y_label: &'static str,
    curves: Vec<Curve>,
    /// What the paper says in numbers: a point and its text.
    stated: Option<(f64, f64, &'static str)>,
    note: String,
}

/// The plots of those runs, each with the name of its file.
pub fn draw(runs: &[Value]) -> Vec<(&'static str, String)> {
    vec![
        ("scale-registration.svg", registration(runs).svg()),
        ("scale-metadata.svg", metadata(runs).svg()),
        ("scale-throughput.svg", throughput(runs).svg()),
    ]
}

fn number(run: &Value, name: &str) -> f64 {
    run[name].as_f64().unwrap_or(0.0)
}

fn stage<'a>(run: &'a Value, name: &str) -> Option<&'a Value> {
    run["stages"].as_array()?.iter().find(|stage| stage["name"] == name)
}

/// A curve of one figure of each run against its publisher ranks; of runs with equally many the last.
fn curve(runs: &[Value], name: &str, figure: impl Fn(&Value) -> Option<f64>) -> Curve {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for run in runs {
        let Some(y) = figure(run) else { continue };
        let x = number(run, "publishers");
        points.retain(|&(known, _)| known != x);
        points.push((x, y));
    }
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    Curve { name: name.to_owned(), points }
}

/// The sizes of the points: of runs with equally many publishers the last, as in the curves.
fn sizes(runs: &[Value]) -> String {
    let sizes: BTreeMap<u64, u64> = runs
        .iter()
        .map(|run| (number(run, "publishers") as u64, number(run, "subscribers") as u64))
        .collect();
    let texts: Vec<String> =
        sizes.iter().map(|(publishers, subscribers)| format!("{publishers} x {subscribers}")).collect();
    texts.join(", ")
}

fn time_ms(run: &Value, name: &str) -> Option<f64> {
    Some(stage(run, name)?["time_us"].as_f64()? / 1e3)
}

fn registration(runs: &[Value]) -> Plot {
    let links =
        |run: &Value| Some(stage(run, "newcomer")?["moments_us"]["data links, computed"].as_f64()? / 1e3);
    Plot {
        title: "A lone newcomer registers (the axes of the paper's figure 6)",
        x_label: "publisher ranks",
        y_label: "ms",
        curves: vec![
            curve(runs, "its first step agreed, simulated", |run| time_ms(run, "newcomer")),
            curve(runs, "data links to all owners, in waves of 64, simulated (computed)", links),
        ],
        stated: None,
        note: "The paper says of its figure 6 only that the time is linear in the publishers: one connection to each."
            .to_owned(),
    }
}

fn metadata(runs: &[Value]) -> Plot {
    let of = |name: &'static str| move |run: &Value| time_ms(run, name);
    Plot {
        title: "A step's metadata, until all subscriber ranks have it (the axes of the paper's figure 7)",
        x_label: "publisher ranks",
        y_label: "ms",
        curves: vec![
            curve(runs, "nothing changed, simulated", of("unchanged")),
            curve(runs, "one rank changed, simulated", of("one rank")),
            curve(runs, "every count changed, simulated", of("every count")),
            curve(runs, "new layout, simulated", of("new layout")),
        ],
        stated: Some((1024.0, 15.0, "paper: less than 15 ms at 1,024 x 8")),
        note: format!("Publisher x subscriber ranks: {}.", sizes(runs)),
    }
}

/// Bytes of a step over the time until they are there: the decision, simulated, and then each subscriber's port.
fn throughput(runs: &[Value]) -> Plot {
    let figure = |run: &Value| {
        if run["network"] != "cluster" || number(run, "subscribers") * 512.0 < number(run, "publishers") {
            return None;
        }
        let port = 12.5e9;
        let bytes = RANK_BYTES * number(run, "publishers");
        let transfer = bytes / number(run, "subscribers") / port;
        Some(bytes / (time_ms(run, "unchanged")? / 1e3 + transfer) / 1e9)
    };
    let ports = |run: &Value| figure(run).map(|_| 12.5 * number(run, "subscribers"));
    Plot {
        title: "Aggregate throughput, 0.6 MB a publisher rank (the axes of the paper's figure 8)",
        x_label: "publisher ranks",
        y_label: "GB/s",
        curves: vec![
            curve(runs, "decision simulated, then the bytes at 12.5 GB/s a subscriber (computed)", figure),
            curve(runs, "all subscribers' ports, computed", ports),
        ],
        stated: None,
        note: "The paper's text gives no number for its figure 8: it says that throughput grows linearly."
            .to_owned(),
    }
}

/// From the power of ten below all values to that above.
fn decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| *value > 0.0)
        .fold((f64::MAX, f64::MIN), |(low, high), value| (f64::min(low, value), f64::max(high, value)));
    let (low, high) = (low.log10().floor(), high.log10().ceil());
    (low, high.max(low + 1.0))
}

impl Plot {
    fn svg(&self) -> String {
        let all = || self.curves.iter().flat_map(|curve| curve.points.iter().copied());
        let stated = self.stated.map(|(x, y, _)| (x, y));
        let (x_low, x_high) = decades(all().chain(stated).map(|(x, _)| x));
        let (y_low, y_high) = decades(all().chain(stated).map(|(_, y)| y));
        let x_at = |x: f64| LEFT + (x.log10() - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT);
        let y_at =
            |y: f64| HEIGHT - BOTTOM - (y.log10() - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        );
        text(&mut svg, (LEFT, 24.0), "start", 15, self.title);
        for power in x_low as i32..=x_high as i32 {
            let x = x_at(10f64.powi(power));
            line(&mut svg, (x, TOP), (x, HEIGHT - BOTTOM));
            text(&mut svg, (x, HEIGHT - BOTTOM + 16.0), "middle", 12, &tick(power));
        }
        for power in y_low as i32..=y_high as i32 {
            let y = y_at(10f64.powi(power));
            line(&mut svg, (LEFT, y), (WIDTH - RIGHT, y));
            text(&mut svg, (LEFT - 6.0, y + 4.0), "end", 12, &tick(power));
        }
        text(&mut svg, (WIDTH - RIGHT, HEIGHT - BOTTOM + 32.0), "end", 12, self.x_label);
        text(&mut svg, (LEFT - 6.0, TOP - 8.0), "end", 12, self.y_label);
        for (at, curve) in self.curves.iter().enumerate() {
            let colour = COLOURS[at % COLOURS.len()];
            let points: Vec<String> =
                curve.points.iter().map(|&(x, y)| format!("{:.1},{:.1}", x_at(x), y_at(y))).collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                points.join(" ")
            );
            let y = HEIGHT - BOTTOM + 48.0 + 15.0 * at as f64;
            let _ = writeln!(
                svg,
                "<rect x=\"{LEFT}\" y=\"{}\" width=\"18\" height=\"3\" fill=\"{colour}\"/>",
                y - 5.0
            );
            text(&mut svg, (LEFT + 26.0, y), "start", 12, &curve.name);
        }
        if let Some((x, y, what)) = self.stated {
            let _ =
                writeln!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"black\"/>", x_at(x), y_at(y));
            text(&mut svg, (x_at(x) - 10.0, y_at(y) - 8.0), "end", 12, what);
        }
        text(&mut svg, (LEFT, HEIGHT - 6.0), "start", 10, &self.note);
        svg + "</svg>\n"
    }
}

fn tick(power: i32) -> String {
    if power >= 0 { format!("{}", 10i64.pow(power as u32)) } else { format!("{}", 10f64.powi(power)) }
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    let _ =
        writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#ddd\"/>");
}

fn text(svg: &mut String, at: (f64, f64), anchor: &str, size: u32, what: &str) {
    let (x, y) = at;
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{what}</text>"
    );
}
