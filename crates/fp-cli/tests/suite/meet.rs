//! `flexpath meet`: streams that are found at a process, which is killed and begins again.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::certificates::Authority;
use crate::support::{Ended, Live, Run};
use fp_core::{PublisherOptions, Rendezvous, TlsOptions, Token};
use rustix::process::{Pid, Signal, kill_process};

/// How soon newcomers find a stream at a place that began again.
const BACK: Duration = Duration::from_secs(2);
/// What starting a process and attaching may take besides, on a busy machine.
const START: Duration = Duration::from_secs(3);

/// A meeting place, and its address. Dropped, it is killed.
struct Place {
    run: Option<Run>,
    url: String,
}

impl Place {
    fn start(arguments: &[&str]) -> Self {
        let mut run = Run::at(Path::new(""), &[&["meet"], arguments].concat());
        let url = run.first_line().trim_end().to_owned();
        assert!(url.starts_with("tcp://127.0.0.1:"), "{url}");
        Self { run: Some(run), url }
    }

    fn publish(&self, set: impl FnOnce(PublisherOptions) -> PublisherOptions) -> Live {
        let rendezvous = Rendezvous::at(&self.url).unwrap();
        Live::with("heat", |options| set(options.with_rendezvous(rendezvous)))
    }

    fn run(&self, arguments: &[&str], prepare: impl FnOnce(&mut Command)) -> Run {
        Run::with(Path::new(&self.url), arguments, prepare)
    }

    fn tell(&self, arguments: &[&str]) -> Ended {
        self.run(arguments, |_| {}).finish()
    }

    fn signal(&self, signal: Signal) {
        let run = self.run.as_ref().expect("it runs");
        kill_process(Pid::from_child(&run.child), signal).unwrap();
    }

    /// Waits for its end.
    fn finish(mut self) -> Ended {
        self.run.take().expect("it runs").finish()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(run) = &mut self.run {
            // It may have ended by itself, which is as well.
            let _ = run.child.kill();
            let _ = run.child.wait();
        }
    }
}

#[test]
fn a_killed_meeting_place_begins_again_while_steps_run() {
    let place = Place::start(&[]);
    let live = place.publish(|options| options);
    let listed = place.tell(&["ls"]);
    assert!(listed.stdout.contains("heat"), "{}{}", listed.stdout, listed.stderr);
    // Four seconds of steps, none of which may be missing.
    let mut following = place.run(&["tail", "heat", "--steps", "200", "--every-step", "--json"], |_| {});
    following.first_line();
    place.signal(Signal::KILL);
    let (url, address) = (place.url.clone(), place.url.trim_start_matches("tcp://").to_owned());
    assert_eq!(place.finish().code, None);
    let away = Run::at(Path::new(&url), &["ls"]).finish();
    assert!(away.code == Some(1) && away.stderr.contains("Is `flexpath meet` running"), "{}", away.stderr);
    let place = Place::start(&["--listen", &address]);
    let began = Instant::now();
    let newcomer = place.tell(&["tail", "heat", "count", "--steps", "1"]);
    assert_eq!(newcomer.code, Some(0), "{}", newcomer.stderr);
    assert!(began.elapsed() < BACK + START, "{:?}", began.elapsed());
    let followed = following.finish();
    assert_eq!(followed.code, Some(0), "{}", followed.stderr);
    live.stop();
    let empty = place.tell(&["ls"]);
    assert!(empty.stderr.contains("no stream is being published in tcp://"), "{}", empty.stderr);
}

/// Between two runs of a simulation nothing is staged, and nothing ends.
#[test]
fn a_stager_that_waits_outlives_a_meeting_place_that_is_away() {
    let place = Place::start(&[]);
    let stager = place.run(&["stage", "heat"], |_| {});
    let take_one = |place: &Place| {
        let live = place.publish(|options| options);
        let taken = place.tell(&["tail", "heat-staged", "count", "--steps", "1"]);
        assert_eq!(taken.code, Some(0), "{}", taken.stderr);
        live.stop();
    };
    take_one(&place);
    place.signal(Signal::KILL);
    let (url, address) = (place.url.clone(), place.url.trim_start_matches("tcp://").to_owned());
    place.finish();
    // It looks several times meanwhile.
    let began = Instant::now();
    while began.elapsed() < BACK {
        assert_eq!(Run::at(Path::new(&url), &["ls"]).finish().code, Some(1));
    }
    let place = Place::start(&["--listen", &address]);
    take_one(&place);
    kill_process(Pid::from_child(&stager.child), Signal::INT).unwrap();
    let ended = stager.finish();
    // It may have been asking in the moment of the kill, and says that apart.
    let told = ended.stderr.matches("Is `flexpath meet` running").count();
    assert!((1..=2).contains(&told), "{}", ended.stderr);
}

#[test]
fn a_meeting_place_ends_in_order_when_it_is_told_to() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = Place::start(&[]);
        place.signal(signal);
        let ended = place.finish();
        assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "", ""));
    }
}

#[test]
fn a_meeting_place_wants_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.token");
    let token = Token::random().unwrap();
    token.write_file(&file).unwrap();
    let file = file.to_str().unwrap();
    let place = Place::start(&["--token-file", file]);
    let live = place.publish(|options| options.with_token(token));
    let blind = place.tell(&["ls"]);
    let told = blind.stderr.contains("does not let this process in: the token is missing or wrong");
    assert!(blind.code == Some(1) && told, "{}", blind.stderr);
    for command in [&["ls"][..], &["describe", "heat"], &["tail", "heat", "--steps", "1"]] {
        let shown = place.tell(&[command, &["--token-file", file]].concat());
        assert_eq!(shown.code, Some(0), "{command:?}: {}", shown.stderr);
    }
    let doctor = place.tell(&["doctor", "--token-file", file]);
    assert!(doctor.stdout.contains("a meeting place, which answers"), "{}", doctor.stdout);
    live.stop();
}

#[test]
fn a_meeting_place_speaks_tls() {
    let authority = Authority::new();
    let own = authority.issue("flexpath");
    let files = [
        ("--tls-certificate", own.certificate.to_str().unwrap().to_owned()),
        ("--tls-key", own.key.to_str().unwrap().to_owned()),
        ("--tls-authority", authority.path().to_str().unwrap().to_owned()),
    ];
    let options: Vec<&str> = files.iter().flat_map(|(option, file)| [*option, file.as_str()]).collect();
    let place = Place::start(&options);
    let tls = TlsOptions::new(&own.certificate, &own.key, authority.path());
    let live = place.publish(|options| options.with_tls(tls));
    let listed = place.tell(&[&["ls"], &options[..]].concat());
    assert!(listed.code == Some(0) && listed.stdout.contains("heat"), "{}", listed.stderr);
    let plain = place.tell(&["ls"]);
    assert!(plain.code == Some(1) && plain.stderr.contains("it speaks TLS only"), "{}", plain.stderr);
    live.stop();
}

#[test]
fn where_a_meeting_place_cannot_be_the_command_says_why() {
    let told = |arguments: &[&str]| Run::at(Path::new(""), &[&["meet"], arguments].concat()).finish();
    let open = told(&["--listen", "0.0.0.0:0"]);
    assert!(
        open.code == Some(1) && open.stderr.contains("flexpath token --out run.token"),
        "{}",
        open.stderr
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.token");
    Token::random().unwrap().write_file(&file).unwrap();
    let nowhere = told(&["--listen", "0.0.0.0:0", "--token-file", file.to_str().unwrap()]);
    assert!(nowhere.code == Some(1) && nowhere.stderr.contains("--advertise"), "{}", nowhere.stderr);
    let wrong = told(&["--listen", "here"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("HOST:PORT"), "{}", wrong.stderr);
    let help = told(&["--help"]);
    assert!(help.stdout.contains("FLEXPATH_RENDEZVOUS=tcp://192.0.2.7:7000"), "{}", help.stdout);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "it writes nothing down");
}
