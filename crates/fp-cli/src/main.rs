//! The `flexpath` command.
fn main() {}
