//! The log that `FLEXPATH_LOG` asks for.

use std::sync::Once;
use tracing_subscriber::EnvFilter;

/// The variable of the environment that says what to log.
const VARIABLE: &str = "FLEXPATH_LOG";
/// The variable that says how.
const FORMAT: &str = "FLEXPATH_LOG_FORMAT";

static STARTED: Once = Once::new();

/// Shows the library's log on the standard error, as far as `FLEXPATH_LOG` asks for it: `info`, `debug`,
/// `fp_core=trace`. Each line names the stream and the step that it belongs to. With `FLEXPATH_LOG_FORMAT=json` each is an
/// object of JSON.
///
/// Every opening of a stream calls it, so a program need not. It does nothing where the variable is not set, and where
/// the program has installed a `tracing` subscriber of its own.
pub fn start_log() {
    STARTED.call_once(|| {
        let Ok(words) = std::env::var(VARIABLE) else { return };
        match EnvFilter::try_new(&words) {
            Ok(filter) => {
                let log = tracing_subscriber::fmt()
                    .with_env_filter(filter)
                    .with_ansi(false)
                    .with_writer(std::io::stderr);
                // A program that has a log of its own keeps it.
                let _ = if is_json() { log.json().flatten_event(true).try_init() } else { log.try_init() };
            }
            Err(error) => eprintln!("{VARIABLE}={words:?} is passed over: {error}"),
        }
    });
}

fn is_json() -> bool {
    let format = std::env::var(FORMAT).unwrap_or_default();
    if !matches!(format.as_str(), "" | "text" | "json") {
        eprintln!("{FORMAT}={format:?} is passed over: it is `text` or `json`");
    }
    format == "json"
}
