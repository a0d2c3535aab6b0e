//! Who of a work-sharing set gets which step, by hand: a publisher of one rank and members that join it.

use crate::conditions::{heard, publish, publisher};
use crate::machines::START;
use fp_proto::config::{Share, ShareMode, SubscriptionSpec};
use fp_proto::effect::PeerId;
use fp_proto::message::Message;
use fp_proto::publisher::PublisherMachine;
use fp_types::StepId;

const MEMBERS: [PeerId; 3] = [PeerId(3), PeerId(4), PeerId(5)];

/// A publisher with a set of three, each of which may have so many steps at a time.
fn shared(mode: ShareMode, credit: u64) -> PublisherMachine {
    let mut machine = publisher(0);
    for member in MEMBERS {
        let share = Some(Share::new("workers").with_mode(mode));
        let spec = SubscriptionSpec { share, limit_steps: 20, ..SubscriptionSpec::default() };
        let ask = Message::Subscribe {
            spec: spec.into(),
            label: "worker".to_owned(),
            cohort_size: 1,
            credit,
            resume: None,
        };
        machine.handle_accepted(START, member);
        machine.handle_message(START, member, ask);
    }
    heard(&mut machine, MEMBERS[0]);
    machine
}

/// Publishes so many steps; who is given which.
fn given(machine: &mut PublisherMachine, steps: u64) -> [Vec<u64>; 3] {
    (0..steps).for_each(|_| publish(machine, false));
    let sent = crate::machines::effects(|| machine.poll());
    MEMBERS.map(|member| {
        let assigned = |message: &Message| {
            let Message::Assign(assignment) = message else { return None };
            Some(assignment.step.0)
        };
        crate::machines::sent_to(&sent, member).iter().filter_map(assigned).collect()
    })
}

fn release(machine: &mut PublisherMachine, member: PeerId, step: u64) {
    let release = Message::Release { step: StepId(step), retire: false, given_back: false };
    machine.handle_message(START, member, release);
}

#[test]
fn members_take_turns_in_the_order_in_which_they_joined() {
    let mut machine = shared(ShareMode::RoundRobin, 9);
    assert_eq!(given(&mut machine, 7), [vec![0, 3, 6], vec![1, 4], vec![2, 5]]);
    assert_eq!(given(&mut machine, 2), [vec![], vec![7], vec![8]], "the turn goes on");
}

#[test]
fn whose_turn_it_is_is_waited_for() {
    let mut machine = shared(ShareMode::RoundRobin, 1);
    assert_eq!(given(&mut machine, 4), [vec![0], vec![1], vec![2]]);
    release(&mut machine, MEMBERS[1], 1);
    assert_eq!(given(&mut machine, 0), [vec![], vec![], vec![]], "it is the turn of the first");
    release(&mut machine, MEMBERS[0], 0);
    assert_eq!(given(&mut machine, 1), [vec![3], vec![4], vec![]]);
}

#[test]
fn on_demand_who_has_waited_longest_is_first_of_those_that_are_ready() {
    let mut machine = shared(ShareMode::OnDemand, 1);
    assert_eq!(given(&mut machine, 3), [vec![0], vec![1], vec![2]]);
    for (member, step) in [(2, 2), (0, 0)] {
        release(&mut machine, MEMBERS[member], step);
    }
    assert_eq!(given(&mut machine, 3), [vec![3], vec![], vec![4]], "the second is not ready");
    release(&mut machine, MEMBERS[1], 1);
    assert_eq!(given(&mut machine, 0), [vec![], vec![5], vec![]]);
}
