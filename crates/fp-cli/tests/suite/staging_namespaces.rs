//! A stager on each of two hosts, which are network namespaces: each finds the ranks that run on its own.

use std::path::PathBuf;
use std::thread;

use crate::kinds::PATIENCE;
use crate::staging::{attach, publisher_options};
use crate::staging_hosts::{LEN, RANKS, check_grid, next, put_global, put_ranked, read};
use crate::two_hosts::run_between_hosts;
use fp_core::{Cohort, Publisher, Rank};

/// Set for the processes on the hosts: the ranks that one publishes, or that it subscribes.
const ROLE: &str = "FLEXPATH_TEST_ROLE";

const STEPS: u64 = 4;

#[test]
fn stagers_find_the_ranks_that_run_on_their_own_host() {
    let child = "staging_namespaces::child_entry";
    let said = run_between_hosts("staging_namespaces.sh", child, &[], "staged by two ranks");
    let Some(wrong) = said else { return };
    for (host, ranks) in [(0, "0 to 1"), (1, "2 to 3")] {
        let said = format!("by 2 ranks on 2 hosts; this is host {host}: publisher ranks {ranks}, ");
        assert!(wrong.contains(&said), "{wrong}");
    }
}

#[test]
fn child_entry() {
    match std::env::var(ROLE).as_deref() {
        Ok("subscriber") => subscribe(),
        Ok("0-1") => publish(0),
        Ok("2-3") => publish(2),
        Ok(_) | Err(_) => {}
    }
}

fn place() -> PathBuf {
    std::env::var_os("FLEXPATH_RENDEZVOUS").expect("the rendezvous").into()
}

/// Publishes as two ranks, which nobody on another host takes anything from.
fn publish(first: u32) {
    let rank = |rank: u32| {
        let options = publisher_options(&place()).with_cohort(Cohort::of(rank, RANKS).unwrap());
        thread::spawn(move || {
            let mut publisher = Publisher::open("run", options).expect("opened");
            for _ in 0..STEPS {
                let mut writer = publisher.begin_step().expect("a step");
                put_global(&mut writer, rank.into());
                put_ranked(&mut writer, rank.into());
                writer.end().expect("ended");
            }
            publisher.sync(PATIENCE).expect("all is taken");
            let links = publisher.transports();
            // What a record type is, everybody asks rank 0. Blocks go to the own host alone.
            let near = links.iter().filter(|link| link.contains("shm")).count();
            assert!(near == 1 && (links.len() == 1 || rank == 0), "rank {rank}: {links:?}");
            let sent_bytes = publisher.statistics().sent_bytes;
            assert!(sent_bytes < LEN * 8, "rank {rank} sent {sent_bytes}, and its large blocks are mapped");
            publisher.close().expect("closed");
        })
    };
    let ranks: Vec<_> = (first..first + 2).map(rank).collect();
    ranks.into_iter().for_each(|rank| rank.join().unwrap());
}

/// Takes everything, by one link to each host.
fn subscribe() {
    let mut subscriber = attach(&place(), "run-staged", |one| one);
    for number in 0..STEPS {
        let step = next(&mut subscriber).expect("a step");
        assert_eq!(step.step().0, number);
        check_grid(&step);
        assert_eq!(read(&step).1, Rank(1), "two ranks have all blocks");
    }
    let links = subscriber.transports();
    let [(Rank(0), near), (Rank(1), far)] = &links[..] else { panic!("{links:?}") };
    assert!(near.contains("shm") && far.contains("tcp"), "{links:?}");
    assert!(next(&mut subscriber).is_none());
}
