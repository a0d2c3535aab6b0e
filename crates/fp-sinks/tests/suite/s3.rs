//! Stores in a bucket: a server of S3 keeps them, and zarr-python and xarray read them over its own protocol.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use fp_core::{MemoryOrder, StepWriter};
use serde_json::Value;

use crate::support::{PATIENCE, Stage, interpreter, publish, python_in, script};
use crate::zarr::{KilledStore, Published, is_whole_after_kills, put_all, put_other_kinds};

const BUCKET: &str = "runs";

/// Between two looks at the root.
const PAUSE: Duration = Duration::from_millis(2);

/// A server, which ends with this.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(settings: &[(&str, &str)]) -> Self {
        let mut command = Command::new(interpreter());
        command.arg(script("s3_server.py")).arg(BUCKET).envs(settings.iter().copied());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server starts");
        let (heard, said) = mpsc::channel();
        let stdout = child.stdout.take().expect("piped");
        thread::spawn(move || {
            let mut line = String::new();
            let _ = BufReader::new(stdout).read_line(&mut line);
            let _ = heard.send(line);
        });
        let line = said.recv_timeout(PATIENCE).expect("the server says its port");
        let port = line.trim().parse().unwrap_or_else(|_| panic!("{line:?} is no port"));
        Self { child, port }
    }

    /// What tells programs of it.
    fn environment(&self) -> Vec<(String, String)> {
        environment(self.port)
    }

    /// An object, if it is there.
    fn object(&self, name: &str) -> Option<Vec<u8>> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        write!(stream, "GET /{BUCKET}/{name} HTTP/1.0\r\nAuthorization: AWS test:test\r\n\r\n")
            .expect("sent");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("an answer");
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let is_there =
            answer[..head].starts_with(b"HTTP/1.1 200") || answer[..head].starts_with(b"HTTP/1.0 200");
        is_there.then(|| answer[head + 4..].to_vec())
    }

    /// What the root of a store says of its writer.
    fn root(&self, store: &str) -> Value {
        let Some(text) = self.object(&format!("{store}/zarr.json")) else { return Value::Null };
        let mut root: Value = serde_json::from_slice(&text).expect("the root is whole whenever it is read");
        root["attributes"]["flexpath"].take()
    }

    fn steps(&self, store: &str) -> u64 {
        self.root(store)["steps"].as_u64().unwrap_or(0)
    }

    /// Waits until the root of a store is so.
    fn await_root(&self, store: &str, is_so: impl Fn(&Value) -> bool) {
        let begun = Instant::now();
        while !is_so(&self.root(store)) {
            assert!(begun.elapsed() < PATIENCE, "the root stays {}", self.root(store));
            thread::park_timeout(PAUSE);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn environment(port: u16) -> Vec<(String, String)> {
    let endpoint = format!("http://127.0.0.1:{port}");
    [
        ("AWS_ENDPOINT_URL", endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// Has zarr.py look at a store.
fn check(server: &Server, arguments: &[&str]) {
    python_in(&server.environment(), "zarr.py", arguments);
}

#[test]
fn all_kinds_are_read_by_others() {
    let (server, stage) = (Server::start(&[]), Stage::new());
    let put = |rank, writer: &mut StepWriter| put_all(rank, writer, MemoryOrder::RowMajor);
    let to = format!("zarr:s3://{BUCKET}/plasma/all.zarr");
    let started = stage.run_in(&server.environment(), (2, 3), put, &["--to", &to, "--ranks", "3"]);
    started.well();
    check(&server, &["all", &format!("s3://{BUCKET}/plasma/all.zarr")]);
    assert!(server.object("step/zarr.json").is_none(), "all of it is in its place");
}

#[test]
fn a_store_is_gone_on_with_only_if_that_is_said() {
    let (server, stage) = (Server::start(&[]), Stage::new());
    let path = format!("s3://{BUCKET}/more.zarr");
    let to = format!("zarr:{path}/");
    let published = Published::of(&stage, 6, put_other_kinds);
    let start = ["--to", &to, "--start-at", "oldest-reserved", "--steps", "3", "--ranks", "2"];
    let run = |more: &[&str]| stage.start_in(&server.environment(), &[&start[..], more].concat()).ended();
    run(&["--durable"]).well();
    run(&[]).refused(2, &[&path, "is there already", "--append"]);
    run(&["--append"]).well();
    check(&server, &["kinds", &path, "6"]);
    published.end();
}

#[test]
fn who_wrote_before_notices_that_another_writes() {
    let (server, stage) = (Server::start(&[]), Stage::new());
    let path = format!("s3://{BUCKET}/two.zarr");
    let to = format!("zarr:{path}");
    let (go, goes) = mpsc::channel::<()>();
    thread::scope(|scope| {
        // The second one comes late: the step that it takes is kept for it.
        let options = stage.options(0, 1).with_reserve_steps(4);
        let put = move |writer: &mut StepWriter| {
            goes.recv_timeout(PATIENCE).expect("the step is wanted");
            put_other_kinds(0, writer);
        };
        scope.spawn(move || publish(options, 3, put));
        let start = |more: &[&str]| {
            stage.start_in(&server.environment(), &[&["--to", &to, "--steps"], more].concat())
        };
        let first = start(&["2"]);
        go.send(()).expect("the publisher is there");
        server.await_root("two.zarr", |root| root["steps"] == 1);
        let writer = server.root("two.zarr")["writer"].clone();
        let second = start(&["1", "--append"]);
        server.await_root("two.zarr", |root| root["writer"] != writer);
        go.send(()).expect("the publisher is there");
        first.ended().refused(2, &["s3://runs/two.zarr", "another flexpath tee has written this store"]);
        second.ended().well();
        go.send(()).expect("the publisher is there");
    });
    assert_eq!(server.steps("two.zarr"), 2);
}

#[test]
fn a_server_that_refuses_is_named_with_what_to_do() {
    let (server, stage) = (Server::start(&[]), Stage::new());
    let refused = |environment: &[(String, String)], bucket: &str, code: i32, words: &[&str]| {
        let to = format!("zarr:s3://{bucket}/x.zarr");
        let begun = Instant::now();
        stage.start_in(environment, &["--to", &to, "--timeout", "2"]).ended().refused(code, words);
        begun.elapsed()
    };
    let good = server.environment();
    refused(&good, "nowhere", 1, &["s3://nowhere/x.zarr", "there is no bucket \"nowhere\": make it"]);
    let encrypted: Vec<_> = good.iter().filter(|(name, _)| name != "AWS_ALLOW_HTTP").cloned().collect();
    refused(&encrypted, BUCKET, 2, &["s3://runs/x.zarr", "is not encrypted: AWS_ALLOW_HTTP=true"]);
    for yes in ["1", "yes", "ON"] {
        let allowed = [&encrypted[..], &[("AWS_ALLOW_HTTP".to_owned(), yes.to_owned())]].concat();
        refused(&allowed, "nowhere", 1, &["there is no bucket \"nowhere\""]);
    }
    let strict = Server::start(&[("INITIAL_NO_AUTH_ACTION_COUNT", "1")]);
    refused(&strict.environment(), BUCKET, 1, &["s3://runs/x.zarr", "access is denied", "AWS_ACCESS_KEY_ID"]);
    // It takes what comes, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let waited =
        refused(&environment(port), BUCKET, 1, &["s3://runs/x.zarr", "no answer within 2s", "--timeout"]);
    assert!(waited < PATIENCE / 2, "it was silent for {waited:?}, and 2 s were allowed");
    drop(silent);
    refused(&environment(port), BUCKET, 1, &["s3://runs/x.zarr", "Connection refused"]);
}

#[test]
fn a_kill_leaves_whole_steps_and_none_twice() {
    let (server, stage) = (Server::start(&[]), Stage::new());
    let path = format!("s3://{BUCKET}/killed.zarr");
    let await_moment = |steps: u64, kill: u64| {
        server.await_root("killed.zarr", |root| root["steps"].as_u64().unwrap_or(0) >= steps);
        // Moments of a step, which takes about 50 ms.
        thread::park_timeout(Duration::from_millis(kill * 37 % 50));
    };
    let (environment, steps) = (server.environment(), || server.steps("killed.zarr"));
    let (environment, steps) = (&environment[..], &steps);
    is_whole_after_kills(
        &stage,
        &KilledStore { path: &path, environment, steps, await_moment: &await_moment },
    );
}
