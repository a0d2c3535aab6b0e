//! A run as a table and as JSON. Every figure is simulated.

use crate::scale::check::{links_of_all, missed};
use crate::scale::figures::{ScaleFigures, Stage};
use std::fmt::Write;

fn micros(time_us: f64) -> String {
    if time_us < 10_000.0 { format!("{time_us:.0} us") } else { format!("{:.1} ms", time_us / 1e3) }
}

fn bytes(len: i64) -> String {
    match len {
        0..10_240 => format!("{len} B"),
        10_240..10_485_760 => format!("{:.1} KiB", len as f64 / 1024.0),
        _ => format!("{:.1} MiB", len as f64 / 1_048_576.0),
    }
}

fn row(stage: &Stage) -> String {
    let books = &stage.books;
    let links_only = stage.links_only_us.map_or("-".to_owned(), micros);
    let moments: Vec<String> =
        stage.moments.iter().map(|(name, time_us)| format!("{name} {}", micros(*time_us))).collect();
    format!(
        "| {} | {} | {} | {} | {} | {} | {} ({}) | {} | {} | {} | {} |",
        stage.name,
        micros(stage.time_us),
        links_only,
        micros(books.cpu_ns as f64 / 1e3),
        micros(books.lead_cpu_ns as f64 / 1e3),
        books.messages(),
        books.longest_cpu.1,
        micros(books.longest_cpu.0 as f64 / 1e3),
        books.interruptions.0,
        bytes(books.bytes() as i64),
        bytes(stage.link_bytes as i64),
        moments.join(", "),
    )
}

/// The run in Markdown.
pub fn table(run: &ScaleFigures) -> String {
    let ScaleFigures { network, publishers, subscribers, wall_seconds, cpu_seconds, memory, .. } = run;
    let mut text = format!(
        "\n### {publishers} x {subscribers}, {network}, simulated ({wall_seconds:.1} s to run, {cpu_seconds:.1} s of \
         them on the processor; {} so far)\n\n",
        bytes(run.peak_bytes as i64)
    );
    text += "| stage | time | links alone | CPU, all | CPU, lead | messages | longest handler | interrupted | bytes | most on a link | moments |\n";
    text += "|---|---|---|---|---|---|---|---|---|---|---|\n";
    run.stages.iter().for_each(|stage| text += &format!("{}\n", row(stage)));
    let _ = writeln!(
        text,
        "\nmemory as if unshared: publisher rank {}, subscriber rank {}, lead {} (and {} of layouts); \
         layouts at a rank that answers {}; {} in all. Control links of a rank: at most {}.",
        bytes(memory.publisher_own),
        bytes(memory.subscriber_own),
        bytes(memory.lead_own),
        bytes(memory.lead_layouts),
        bytes(memory.publisher_layouts),
        bytes(memory.total),
        links_of_all(run),
    );
    run.violations.iter().for_each(|wrong| text += &format!("BROKEN: {wrong}\n"));
    missed(run).iter().for_each(|wrong| text += &format!("MISSED: {wrong}\n"));
    text
}

fn stage_json(stage: &Stage) -> String {
    let books = &stage.books;
    let moments: Vec<String> =
        stage.moments.iter().map(|(name, time_us)| format!("{name:?}: {time_us:.3}")).collect();
    let traffic: Vec<String> = books
        .traffic
        .iter()
        .map(|(kind, of)| format!("{kind:?}: [{}, {}, {}]", of.messages, of.bytes, of.longest_bytes))
        .collect();
    format!(
        "{{\"name\": {:?}, \"time_us\": {:.3}, \"links_alone_us\": {}, \"cpu_us\": {:.3}, \"lead_cpu_us\": {:.3}, \
         \"longest_handler_us\": {:.3}, \"longest_handler\": {:?}, \"interrupted\": {}, \"interrupted_us\": {:.3}, \"messages\": {}, \"bytes\": {}, \
         \"most_bytes_on_a_link\": {}, \"moments_us\": {{{}}}, \"messages_bytes_longest_by_kind\": {{{}}}}}",
        stage.name,
        stage.time_us,
        stage.links_only_us.map_or("null".to_owned(), |time_us| format!("{time_us:.3}")),
        books.cpu_ns as f64 / 1e3,
        books.lead_cpu_ns as f64 / 1e3,
        books.longest_cpu.0 as f64 / 1e3,
        books.longest_cpu.1,
        books.interruptions.0,
        books.interruptions.1 as f64 / 1e3,
        books.messages(),
        books.bytes(),
        stage.link_bytes,
        moments.join(", "),
        traffic.join(", "),
    )
}

fn run_json(run: &ScaleFigures) -> String {
    let memory = &run.memory;
    let stages: Vec<String> = run.stages.iter().map(stage_json).collect();
    format!(
        "{{\"simulated\": true, \"network\": {:?}, \"publishers\": {}, \"subscribers\": {}, \"wall_seconds\": {:.1}, \
         \"cpu_seconds\": {:.1}, \"peak_bytes\": {}, \"control_links_peak\": {}, \"memory_bytes\": {{\"publisher\": {}, \"subscriber\": {}, \"lead\": {}, \
         \"lead_layouts\": {}, \"answering_rank_layouts\": {}, \"all\": {}}}, \
         \"broken\": {:?}, \"missed\": {:?}, \"stages\": [\n    {}\n  ]}}",
        run.network,
        run.publishers,
        run.subscribers,
        run.wall_seconds,
        run.cpu_seconds,
        run.peak_bytes,
        links_of_all(run),
        memory.publisher_own,
        memory.subscriber_own,
        memory.lead_own,
        memory.lead_layouts,
        memory.publisher_layouts,
        memory.total,
        run.violations,
        missed(run),
        stages.join(",\n    "),
    )
}

/// All runs as JSON.
pub fn json(runs: &[ScaleFigures]) -> String {
    let runs: Vec<String> = runs.iter().map(run_json).collect();
    format!("[\n  {}\n]\n", runs.join(",\n  "))
}
