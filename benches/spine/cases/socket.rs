//! The baselines over tcp: a socket as the system gives it. Only the delay of small messages is turned off.

use super::copies::{Filling, WARM_STEPS, destination, timed};
use super::latency::{half_trips, repetitions};
use crate::machine::now_ns;
use crate::ours;
use crate::process::Words;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// Waits for the other process, and says where.
fn accept() -> TcpStream {
    let listening = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    println!("port={}", listening.local_addr().expect("its address").port());
    let (stream, _) = listening.accept().expect("somebody comes");
    stream.set_nodelay(true).expect("a socket");
    stream
}

fn connect(words: &Words) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, words.number("port"))).expect("it listens");
    stream.set_nodelay(true).expect("a socket");
    stream
}

/// Role: writes steps, each in another buffer than the ones before.
pub(crate) fn sender(words: &Words) {
    ours::take_core(words);
    let mut stream = connect(words);
    let mut filling = Filling::of(words);
    let live: usize = words.number("live");
    let mut buffers = vec![vec![0u64; words.number::<usize>("len") / 8]; live];
    for step in 0..WARM_STEPS + words.number::<usize>("steps") {
        let buffer: &mut [u8] = bytemuck::cast_slice_mut(&mut buffers[step % live]);
        filling.fill(buffer, step);
        stream.write_all(buffer).expect("a write");
    }
    println!("done=1");
}

/// Role: reads steps into an array.
pub(crate) fn receiver(words: &Words) {
    ours::take_core(words);
    let destination = destination(words);
    let mut stream = accept();
    let take = |destination: &mut [u64]| {
        let started = now_ns();
        stream.read_exact(bytemuck::cast_slice_mut(destination)).expect("a read");
        now_ns() - started
    };
    timed(words, destination, take, String::new);
}

/// Role: sends 8 bytes and waits for the answer.
pub(crate) fn ping(words: &Words) {
    ours::take_core(words);
    let mut stream = connect(words);
    half_trips(words, || {
        stream.write_all(&[1; 8]).expect("a write");
        stream.read_exact(&mut [0; 8]).expect("an answer");
    });
}

/// Role: answers.
pub(crate) fn pong(words: &Words) {
    ours::take_core(words);
    let mut stream = accept();
    for _ in 0..repetitions(words) {
        stream.read_exact(&mut [0; 8]).expect("a read");
        stream.write_all(&[1; 8]).expect("a write");
    }
    println!("done=1");
}
