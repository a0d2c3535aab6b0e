//! Figures for people.

use std::io::{self, Write};

use clap::ValueEnum as _;

use super::figures::{Figures, SideFigures, Times};
use super::machine::Machine;
use super::options::{Put, Transport};
use super::task::Setup;

/// Above this the machine was too busy for figures to be worth much.
const BUSY_PERCENT: f64 = 12.0;

/// Prints everything.
pub(crate) fn print(
    out: &mut impl Write,
    machine: &Machine,
    setup: &Setup,
    figures: &Figures,
) -> io::Result<()> {
    let Machine { processor, cores, kernel, load, busy_percent } = machine;
    writeln!(
        out,
        "{processor}, {cores} cores, Linux {kernel}; load {load:.2}, others used {busy_percent:.0} %"
    )?;
    writeln!(out, "{}", told(setup, figures.step_bytes))?;
    let links = figures.transports.iter().map(|(kind, number)| format!("{number} {kind}"));
    line(out, "data links", &links.collect::<Vec<_>>().join(", "))?;
    line(
        out,
        "throughput",
        &format!("{} GB/s, {} steps/s", short(figures.gb_per_s), short(figures.steps_per_s)),
    )?;
    line(out, "latency, one way", &times(&figures.latency_us))?;
    line(out, "inside our calls, a step", &times(&figures.calls_us))?;
    line(out, "  of it begin_step", &times(&figures.begin_us))?;
    line(out, "inside our calls, paced", &times(&figures.calls_paced_us))?;
    let (open, attach) = (short(figures.open_ms), short(figures.attach_ms));
    line(out, "attach", &format!("open {open} ms, first data after {attach} ms"))?;
    line(out, "publishers", &side(&figures.publishers))?;
    line(out, "subscribers", &side(&figures.subscribers))?;
    line(out, "copied", &format!("{:.3} bytes for each byte delivered", figures.copied_per_delivered))?;
    line(
        out,
        "content",
        &format!("right; {} elements looked at, and 65 of every other step", figures.checked),
    )?;
    if setup.transport == Transport::Inproc {
        writeln!(
            out,
            "All ranks are threads of one process: its processor time and memory stand on both lines."
        )?;
    }
    if *busy_percent > BUSY_PERCENT {
        writeln!(out, "The machine was not quiet: do not trust these figures.")?;
    }
    Ok(())
}

fn told(setup: &Setup, step_bytes: u64) -> String {
    let shape: Vec<String> = setup.shape.iter().map(u64::to_string).collect();
    let put = match setup.put {
        Put::Loan => "filled in place",
        Put::Copy => "copied",
        Put::Vec => "given away",
    };
    let dtype = setup.dtype.to_possible_value();
    format!(
        "{} x {}, {} {}, {} a step, {} steps, {put}, queue limit {}{}",
        setup.publishers,
        setup.subscribers,
        shape.join("x"),
        dtype.as_ref().map_or("", |dtype| dtype.get_name()),
        bytes(step_bytes),
        setup.steps,
        setup.queue_limit,
        if setup.busy_poll { ", busy poll" } else { "" }
    )
}

fn line(out: &mut impl Write, what: &str, text: &str) -> io::Result<()> {
    writeln!(out, "  {what:<26}{text}")
}

fn times(times: &Times) -> String {
    let p999 = times.p999.map_or(String::new(), |p999| format!(", p99.9 {}", short(p999)));
    format!("p50 {}, p99 {}{p999}, max {} us", short(times.p50), short(times.p99), short(times.max))
}

fn side(side: &SideFigures) -> String {
    format!(
        "{} CPU s/GB, peak {} MiB a rank, {} in all, {:.3} bytes copied for each delivered",
        short(side.cpu_s_per_gb),
        short(side.peak_mib),
        short(side.peak_all_mib),
        side.copied_per_delivered
    )
}

/// A size in the largest unit that it has one whole of.
fn bytes(len: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.iter().find(|(size, _)| len >= *size);
    unit.map_or_else(
        || format!("{len} B"),
        |(size, name)| format!("{} {name}", short(len as f64 / *size as f64)),
    )
}

/// A number in at least three digits.
fn short(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        small if small >= 0.1 || small == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_sizes_are_short() {
        assert_eq!(
            [1234.5, 12.34, 1.234, 0.01234, 0.0].map(short),
            ["1234", "12.3", "1.23", "0.0123", "0.00"]
        );
        assert_eq!([8, 1536, 64 << 20].map(bytes), ["8 B", "1.50 KiB", "64.0 MiB"]);
    }
}
