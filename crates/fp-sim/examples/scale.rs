//! The machines at a scale that no machine of ours has:
//! `cargo run --release -p flexpath-sim --example scale -- --publishers 1024 --subscribers 8`.

use fp_sim::scale::{Counting, LinkCost, ScaleFigures, World, crowd, json, missed, run, table};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const HELP: &str = "\
Runs the protocol's machines for many ranks on virtual time and reports what their agreements cost.

usage: scale [--publishers M] [--subscribers N] [--network cluster|loopback|wan] [--repeats R] [--json FILE] [--sweep]
       scale --crowd [--publishers M] [--subscribers N] [--network cluster|loopback|wan]
       scale --plots DIRECTORY JSON...

  --publishers M   publisher ranks, a power of two from 64 to 131072 (1024)
  --subscribers N  subscriber ranks, a power of two up to 8192 (8)
  --network NAME   what links cost (cluster)
  --repeats R      steps of each kind, of which the middle one counts (5)
  --json FILE      the figures for other programs
  --sweep          the sizes of docs/performance.md one after the other, instead of one
  --crowd          every subscriber is a subscription of its own; a stream has up to 1024
  --plots DIR ...  runs nothing: draws what the JSON files say, as SVG
  --help           this text

The exit status is 0 if all bounds were kept and all targets of time met, 1 if one was not, 2 if the arguments make no sense.";

/// The sizes of a sweep.
const SWEEP: [(u32, u32); 9] = [
    (64, 1),
    (64, 8),
    (256, 8),
    (1_024, 8),
    (1_024, 64),
    (4_096, 64),
    (16_384, 512),
    (131_072, 8),
    (131_072, 8_192),
];

/// What was asked for.
struct Arguments {
    publishers: u32,
    subscribers: u32,
    network: LinkCost,
    repeats: usize,
    json: Option<String>,
    sweep: bool,
    crowd: bool,
}

/// All ranks share a heap here. When somebody asks for a large piece, glibc sorts what all
/// ranks have freed. That rank would be charged for work that no process of its own would have. It keeps that many
/// pieces of each size aside instead, as it does for a few of one process.
const HEAP: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=65535");

/// Becomes the same program with another heap, once: it reads that setting as it starts.
fn begin_again() {
    if let (None, Ok(program)) = (std::env::var_os(HEAP.0), std::env::current_exe()) {
        let error = Command::new(program).args(std::env::args_os().skip(1)).env(HEAP.0, HEAP.1).exec();
        eprintln!("the heap stays as it is: {error}");
    }
}

fn main() -> ExitCode {
    begin_again();
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if let [first, folder, files @ ..] = words.as_slice()
        && first == "--plots"
    {
        return match draw(folder, files) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    match parse(&words).and_then(|arguments| run_all(&arguments)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}

fn parse(words: &[String]) -> Result<Arguments, String> {
    let network = LinkCost::named("cluster").ok_or("no network of that name")?;
    let (json, sweep, crowd) = (None, false, false);
    let mut arguments =
        Arguments { publishers: 1_024, subscribers: 8, network, repeats: 5, json, sweep, crowd };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--publishers" => arguments.publishers = ranks(value()?, 64..=131_072)?,
            "--subscribers" => arguments.subscribers = ranks(value()?, 1..=8_192)?,
            "--repeats" => {
                arguments.repeats = value()?.parse().map_err(|error| format!("{word}: {error}"))?
            }
            "--json" => arguments.json = Some(value()?.clone()),
            "--sweep" => arguments.sweep = true,
            "--crowd" => arguments.crowd = true,
            "--network" => {
                let name = value()?;
                arguments.network = LinkCost::named(name).ok_or(format!("no network {name}"))?;
            }
            other => return Err(format!("unknown argument {other}")),
        }
    }
    Ok(arguments)
}

fn ranks(text: &str, allowed: std::ops::RangeInclusive<u32>) -> Result<u32, String> {
    let number = text.parse().map_err(|error| format!("{text}: {error}"))?;
    let fits = allowed.contains(&number) && number.is_power_of_two();
    fits.then_some(number).ok_or(format!(
        "{number} is no power of two from {} to {}",
        allowed.start(),
        allowed.end()
    ))
}

fn draw(folder: &str, files: &[String]) -> Result<(), String> {
    let mut runs = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        let list: Vec<serde_json::Value> =
            serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
        runs.extend(list);
    }
    std::fs::create_dir_all(folder).map_err(|error| format!("{folder}: {error}"))?;
    for (name, svg) in fp_sim::scale::draw(&runs) {
        let path = std::path::Path::new(folder).join(name);
        std::fs::write(&path, svg).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}

fn run_all(arguments: &Arguments) -> Result<ExitCode, String> {
    if arguments.crowd {
        let Arguments { network, publishers, subscribers, .. } = *arguments;
        println!("{publishers} ranks, {subscribers} subscriptions:");
        println!("{:#?}", crowd(World::new(network, publishers, subscribers)));
        return Ok(ExitCode::SUCCESS);
    }
    let one = [(arguments.publishers, arguments.subscribers)];
    let sizes: &[(u32, u32)] = if arguments.sweep { &SWEEP } else { &one };
    let mut runs: Vec<ScaleFigures> = Vec::new();
    for &(publishers, subscribers) in sizes {
        let finished = run(World::new(arguments.network, publishers, subscribers), arguments.repeats);
        println!("{}", table(&finished));
        runs.push(finished);
    }
    if let Some(file) = &arguments.json {
        std::fs::write(file, json(&runs)).map_err(|error| format!("{file}: {error}"))?;
    }
    let kept = runs.iter().all(|run| run.violations.is_empty() && missed(run).is_empty());
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
