//! Replays seeds of the simulator: `cargo run --profile ci -p flexpath-sim --example sim -- --seed 7`.

use fp_sim::simulator::{Flaw, Outcome, Scenario, TraceMode, run};
use std::process::ExitCode;

const HELP: &str = "\
Runs the protocol's machines in a simulated world that one seed decides, and judges the run.

usage: sim --seed S [--seeds N] [--flaw NAME] [--quiet]

  --seed S         the seed, or the first of several
  --seeds N        run N seeds and report the first that fails; implies --quiet
  --flaw NAME      switch on a mistake in every machine (LostRelease, ...), or show the oracles
                   something false (FreedTwice, ...)
  --quiet          no trace
  --help           this text

The exit status is 0 if no rule was broken, 1 if one was, 2 if the arguments make no sense.";

/// What was asked for.
struct Arguments {
    seed: u64,
    seeds: u64,
    flaw: Option<Flaw>,
    quiet: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match parse(&words) {
        Ok(arguments) => replay(&arguments),
        Err(error) => {
            eprintln!("{error}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}

fn parse(words: &[String]) -> Result<Arguments, String> {
    let mut arguments = Arguments { seed: 0, seeds: 1, flaw: None, quiet: false };
    let mut named = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--seed" => (arguments.seed, named) = (number(value()?)?, true),
            "--seeds" => arguments.seeds = number(value()?)?,
            "--flaw" => arguments.flaw = Some(flaw(value()?)?),
            "--quiet" => arguments.quiet = true,
            other => return Err(format!("unknown argument {other}")),
        }
    }
    if !named {
        return Err("a seed is needed".to_owned());
    }
    Ok(arguments)
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("{text} is not a number"))
}

fn flaw(name: &str) -> Result<Flaw, String> {
    let names = || Flaw::all().map(Flaw::name).collect::<Vec<_>>().join(", ");
    Flaw::all()
        .find(|flaw| flaw.name() == name)
        .ok_or_else(|| format!("no flaw {name}; there are {}", names()))
}

fn replay(arguments: &Arguments) -> ExitCode {
    let loud = arguments.seeds == 1 && !arguments.quiet;
    for seed in arguments.seed..arguments.seed.saturating_add(arguments.seeds) {
        if loud {
            println!("{:#?}", Scenario::draw(seed));
        }
        let outcome = run(seed, arguments.flaw, if loud { TraceMode::Print } else { TraceMode::Hash });
        if let Some(violation) = &outcome.violation {
            println!("seed {seed} FAILED: {violation}");
            return ExitCode::FAILURE;
        }
        if arguments.seeds == 1 {
            summarise(&outcome);
        }
    }
    println!("{} seeds passed", arguments.seeds);
    ExitCode::SUCCESS
}

fn summarise(outcome: &Outcome) {
    let Outcome { seed, hash, assignments, ended_at, .. } = outcome;
    let seconds = ended_at.as_micros() as f64 / 1e6;
    println!("seed {seed}: {assignments} steps assigned in {seconds:.3} virtual seconds, trace {hash:016x}");
    println!(
        "transitions: {}",
        outcome.transitions.iter().map(|known| known.name()).collect::<Vec<_>>().join(" ")
    );
}
