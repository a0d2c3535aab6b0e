//! `flexpath tee` as a program.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    fp_sinks::main(std::env::args_os().skip(1)).into()
}
