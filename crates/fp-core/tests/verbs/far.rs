//! A stream between two machines that share nothing but a network. One publishes at the address of its device and the
//! port of `FLEXPATH_TEST_PORT`. The other is told where (`FLEXPATH_TEST_PUBLISHER`), and checks every element.

use super::{
    COLUMNS, PATIENCE, ROWS, STEPS, STREAM, check, device_address, policy, put, subscribe, taking, token,
};
use fp_core::{Contact, Publisher, PublisherOptions, Region, SubscriberOptions};
use std::net::SocketAddr;

fn whole() -> Region {
    Region::new([0, 0], [ROWS, COLUMNS]).expect("inside")
}

pub(crate) fn publish_to_another_machine() {
    let port = std::env::var("FLEXPATH_TEST_PORT").expect("a port").parse().expect("a number");
    let address = SocketAddr::new(device_address().expect("a device").ip(), port);
    let options = PublisherOptions::default().with_tcp(Some(address)).with_token(token());
    let options = options.with_transports(policy().with_forbid_fallback(true)).with_min_subscribers(1);
    let options = options.with_open_timeout(PATIENCE).with_close_timeout(PATIENCE);
    let mut publisher = Publisher::open(STREAM, options).expect("it opens");
    for _ in 0..STEPS {
        put(&mut publisher, whole());
    }
    let statistics = publisher.statistics();
    publisher.close().expect("closed");
    assert_eq!(statistics.gathered_bytes, 0, "what is READ is not copied");
}

pub(crate) fn subscribe_from_another_machine() {
    let address = std::env::var("FLEXPATH_TEST_PUBLISHER").expect("an address").parse().expect("an address");
    let options = SubscriberOptions::default().with_publisher_contact(Contact::from_address(address));
    let own = SocketAddr::new(device_address().expect("a device").ip(), 0);
    let options = options.with_tcp(Some(own)).with_token(token()).with_name("far");
    let options = options.with_transports(policy().with_forbid_fallback(true));
    let options = options.with_open_timeout(PATIENCE).with_fetch_timeout(PATIENCE);
    let options = options.with_limit_steps(super::LIMIT_STEPS);
    check("far", whole(), subscribe(options, whole(), taking("far")));
    println!("every element came from the other machine");
}
