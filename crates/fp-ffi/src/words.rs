//! The words of C in the texts of failures: the core says what to do in those of Rust.

/// What the core says, and what C calls it.
const WORDS: &[(&str, &str)] = &[
    ("limit_bytes", "LimitBytes"),
    ("reserve_steps is 0", "ReserveQueueLimit is 0"),
    ("derivations is false", "Derivations is false"),
    ("limit_steps", "QueueLimit"),
    ("limit_subscriptions", "LimitSubscriptions"),
    ("limit_peer_subscriptions", "LimitPeerSubscriptions"),
    ("limit_requests_per_second", "RequestsPerSecond"),
    ("kept_bytes", "KeptBytes"),
    ("credit_steps", "CreditSteps"),
    ("skew_steps", "SkewSteps"),
    ("EveryKth::every", "the k of EveryKth"),
    ("end or drop its writer first", "end or abandon it first"),
    ("use get", "use flexpath_step_get"),
    ("read it by records or get_records", "read it by flexpath_step_get"),
    ("read them by records or get_records", "read them by flexpath_step_get_records"),
    ("read it by get, with that element type", "read it by flexpath_step_get, with that element type"),
    ("put it with a region", "put it by flexpath_publisher_put, with start and count"),
    ("ask for one by with_share", "ask for one by ShareSet and ShareRedeliver"),
    ("with DropOldest and no variables", "with QueueFullPolicy DropOldest"),
    ("with_explicit_done", "ShareExplicitDone"),
    ("with_module", "flexpath_options_add_module"),
];

/// A text in the words of C. What stands in quotes is somebody's name, and stays.
pub(crate) fn of_c(text: &str) -> String {
    let mut parts: Vec<String> = text.split('"').map(str::to_owned).collect();
    for part in parts.iter_mut().step_by(2) {
        for (rust, c) in WORDS {
            *part = replaced(part, rust, c);
        }
    }
    parts.join("\"")
}

/// Whole words alone.
fn replaced(text: &str, rust: &str, c: &str) -> String {
    let is_part = |at: Option<char>| at.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let (mut made, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(rust) {
        let (before, after) = (&rest[..at], &rest[at + rust.len()..]);
        made.push_str(before);
        let whole = !is_part(before.chars().next_back()) && !is_part(after.chars().next());
        made.push_str(if whole { c } else { rust });
        rest = after;
    }
    made.push_str(rest);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_in_the_words_of_c() {
        assert_eq!(of_c("raise limit_bytes, or more"), "raise LimitBytes, or more");
        assert_eq!(of_c("stream \"s\", step 0: it is still open: end or drop its writer first"), {
            "stream \"s\", step 0: it is still open: end or abandon it first"
        });
    }

    #[test]
    fn names_of_others_stay() {
        assert_eq!(of_c("variable \"limit_bytes\": limit_bytes"), "variable \"limit_bytes\": LimitBytes");
        assert_eq!(of_c("no_limit_bytes, limit_bytes_too"), "no_limit_bytes, limit_bytes_too");
    }
}
