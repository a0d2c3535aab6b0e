//! Streams that do not let everybody in: `flexpath token`, and every command that shows a token or a certificate.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::certificates::Authority;
use crate::support::{Ended, Live, Run};
use fp_core::{
    Access, AccessRule, Action, Event, TlsOptions, Token, TokenHash, TransportKind, TransportPolicy, Who,
};

/// Each command that connects to a stream, ended soon.
const COMMANDS: [&[&str]; 4] = [
    &["describe", "heat", "--timeout", "2"],
    &["tail", "heat", "--steps", "1", "--timeout", "2"],
    &["tail", "heat", "count", "--steps", "1", "--timeout", "2"],
    &["ls", "--types", "--timeout", "2"],
];

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn with(live: &Live, arguments: &[&str], more: &[&str], variables: &[(&str, &str)]) -> Ended {
    let run = Run::with(live.path(), &[arguments, more].concat(), |command| {
        command.envs(variables.iter().copied());
    });
    run.finish()
}

/// Whether the command was let in: a list has its line in any case, but then without variables.
fn is_in(ended: &Ended) -> bool {
    ended.code == Some(0) && !ended.stdout.contains("refused") && !ended.stdout.contains("no rule of")
}

#[test]
fn a_token_is_made_and_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    // Where a rendezvous would be, there is a file: a token needs none.
    let file = tempfile::NamedTempFile::new().unwrap();
    let printed = Run::at(file.path(), &["token"]).finish();
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    assert!(printed.stdout.len() == 65 && printed.stdout.trim_end().parse::<Token>().is_ok());
    let path = folder.path().join("run.token");
    let out = ["token", "--out", path.to_str().unwrap()];
    let made = Run::at(folder.path(), &out).finish();
    assert_eq!((made.code, made.stdout.as_str(), made.stderr.as_str()), (Some(0), "", ""));
    let first = Token::from_file(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
    let again = Run::at(folder.path(), &out).finish();
    assert!(
        again.code == Some(1) && again.stderr.contains("run.token: it is there already"),
        "{}",
        again.stderr
    );
    assert_eq!(Token::from_file(&path).unwrap(), first);
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let forced = Run::at(folder.path(), &[&out[..], &["--force"]].concat()).finish();
    assert_eq!(forced.code, Some(0), "{}", forced.stderr);
    assert_ne!(Token::from_file(&path).unwrap(), first);
    assert_eq!(mode(&path), 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left there");
    assert_eq!(Run::at(folder.path(), &["token", "--force"]).finish().code, Some(2));
}

#[test]
fn every_command_shows_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let (file, wrong) = (folder.path().join("run.token"), folder.path().join("wrong.token"));
    let token = Token::random().unwrap();
    token.write_file(&file).unwrap();
    Token::random().unwrap().write_file(&wrong).unwrap();
    let (file, wrong) = (file.to_str().unwrap(), wrong.to_str().unwrap());
    let live = Live::with("heat", |options| options.with_token(token));
    for command in COMMANDS {
        let blind = with(&live, command, &[], &[]);
        let told = format!("{}{}", blind.stdout, blind.stderr);
        assert!(!is_in(&blind) && told.contains("the token is missing or wrong"), "{command:?}: {told}");
        let by_option = with(&live, command, &["--token-file", file], &[("FLEXPATH_TOKEN_FILE", wrong)]);
        assert!(is_in(&by_option), "{command:?}: {}{}", by_option.stdout, by_option.stderr);
    }
    let by_environment = with(&live, COMMANDS[0], &[], &[("FLEXPATH_TOKEN_FILE", file)]);
    assert!(is_in(&by_environment), "{}", by_environment.stderr);
    let empty = with(&live, COMMANDS[0], &[], &[("FLEXPATH_TOKEN_FILE", "")]);
    assert!(empty.code == Some(1) && empty.stderr.contains("the token is missing"), "{}", empty.stderr);
    let unread = with(&live, COMMANDS[1], &["--token-file", "/nowhere/run.token"], &[]);
    assert!(unread.code == Some(1) && unread.stderr.contains("/nowhere/run.token"), "{}", unread.stderr);
    live.stop();
}

#[test]
fn an_access_list_names_a_token_by_its_hash_and_refuses_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("analyst.token");
    let token = Token::random().unwrap();
    token.write_file(&file).unwrap();
    let file = file.to_str().unwrap();
    let printed = Run::at(folder.path(), &["token", "--hash", file]).finish();
    let hash: TokenHash = printed.stdout.trim_end().parse().unwrap();
    assert_eq!((printed.code, hash), (Some(0), TokenHash::of(&token)));
    assert_eq!(Run::at(folder.path(), &["token", "--hash", file, "--force"]).finish().code, Some(2));
    let rule = AccessRule::new("heat", Who::Token(hash)).with_actions([Action::Subscribe]);
    let live = Live::with("heat", |options| options.with_access(Access::new().with_rule(rule)));
    for command in COMMANDS {
        let refused = with(&live, command, &[], &[]);
        let told = format!("{}{}", refused.stdout, refused.stderr);
        assert!(
            !is_in(&refused) && told.contains("no rule of the publisher's access list is for"),
            "{command:?}: {told}"
        );
        let let_in = with(&live, command, &["--token-file", file], &[]);
        assert!(is_in(&let_in), "{command:?}: {}{}", let_in.stdout, let_in.stderr);
    }
    let denial =
        live.event(|event| if let Event::Denied(denial) = event { Some(denial.clone()) } else { None });
    assert_eq!((denial.action, denial.rule), (Action::Subscribe, None));
    live.stop();
}

#[test]
fn every_command_shows_its_certificate() {
    let authority = Authority::new();
    let own = authority.issue("flexpath");
    let options = TlsOptions::new(&own.certificate, &own.key, authority.path());
    let files = [own.certificate, own.key, authority.path()].map(|path| path.to_str().unwrap().to_owned());
    let tcp = TransportPolicy::only(TransportKind::Tcp);
    let live = Live::with("heat", |of| of.with_tls(options).with_transports(tcp));
    let over_tcp = ("FLEXPATH_TRANSPORTS", "tcp");
    // The key is the environment's where no option names it.
    let words = ["--tls-certificate", &files[0], "--tls-authority", &files[2], "--tls-name", "flexpath"];
    for command in COMMANDS {
        let plain = with(&live, command, &[], &[over_tcp]);
        assert!(!plain.stdout.contains("temperature f64"), "{command:?}: {}", plain.stdout);
        let let_in = with(&live, command, &words, &[over_tcp, ("FLEXPATH_TLS_KEY", &files[1])]);
        assert!(is_in(&let_in), "{command:?}: {}{}", let_in.stdout, let_in.stderr);
    }
    let partly = with(&live, COMMANDS[0], &words, &[over_tcp]);
    assert!(partly.code == Some(2) && partly.stderr.contains("--tls-key is missing"), "{}", partly.stderr);
    live.stop();
}

#[test]
fn secrets_that_others_can_read_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let own = authority.issue("flexpath");
    let token = folder.path().join("run.token");
    Token::random().unwrap().write_file(&token).unwrap();
    let logged = |mode: u32| {
        for secret in [&token, &own.key] {
            fs::set_permissions(secret, Permissions::from_mode(mode)).unwrap();
        }
        let files = [&token, &own.certificate, &own.key].map(|path| path.to_str().unwrap());
        let authority = authority.path();
        let words =
            ["doctor", "--transports", "tcp", "--token-file", files[0], "--tls-certificate", files[1]];
        let words =
            [&words[..], &["--tls-key", files[2], "--tls-authority", authority.to_str().unwrap()]].concat();
        let run = Run::with(folder.path(), &words, |command| {
            command.env("FLEXPATH_LOG", "warn");
        });
        run.finish().stderr
    };
    let loud = logged(0o644);
    for (what, path) in [("the token", &token), ("the private key", &own.key)] {
        let is_it = |line: &&str| line.contains(what) && line.contains(path.to_str().unwrap());
        let line = loud.lines().find(is_it).unwrap_or_else(|| panic!("nothing of {what}: {loud}"));
        assert!(line.contains("WARN") && line.contains("others can read") && line.contains("644"), "{line}");
    }
    let silent = logged(0o600);
    assert!(!silent.contains("others can read"), "{silent}");
}
