//! The `flexpath` command as a program.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    fp_cli::main(std::env::args_os().skip(1)).into()
}
