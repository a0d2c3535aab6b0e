//! What watches the C programs as they run. `FLEXPATH_C_CHECKER=address` compiles them with AddressSanitizer (and its
//! search for leaks) and the sanitizer of undefined behaviour. `FLEXPATH_C_CHECKER=memcheck` runs them under valgrind.
//! The library itself is the plain one, whose heap both of them see.

use std::path::Path;
use std::process::Command;

/// The checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checker {
    None,
    Address,
    Memcheck,
}

impl Checker {
    /// The one that the environment names.
    pub fn chosen() -> Self {
        match std::env::var("FLEXPATH_C_CHECKER").as_deref() {
            Err(_) | Ok("") => Self::None,
            Ok("address") => Self::Address,
            Ok("memcheck") => Self::Memcheck,
            Ok(other) => panic!("FLEXPATH_C_CHECKER is address or memcheck, not {other:?}"),
        }
    }

    /// What the compiler is told.
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Address => &[
                "-g",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=undefined",
                "-fno-omit-frame-pointer",
            ],
            Self::Memcheck => &["-g"],
        }
    }

    /// The program, watched. A finding is a failure.
    pub fn run(self, program: &Path) -> Command {
        if self != Self::Memcheck {
            return Command::new(program);
        }
        let suppressions = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/valgrind.supp");
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["-q", "--error-exitcode=99", "--num-callers=40", "--leak-check=full"]);
        // The thread that serves all streams of a process never ends, so what it holds is "possibly" lost.
        valgrind.args(["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]);
        valgrind.arg(format!("--suppressions={}", suppressions.display())).arg(program);
        valgrind
    }

    /// Transports that the programs may use. Valgrind up to 3.20 knows no `pidfd_open`. Without it memory of another
    /// process is not shared, and links fall back.
    pub fn transports(self, wanted: &str) -> &str {
        if self == Self::Memcheck && wanted == "shm" { "shm,tcp" } else { wanted }
    }
}
