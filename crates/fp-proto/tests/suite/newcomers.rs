//! A subscriber that finds one entry says with its first word what it wants, and how a publisher's lead takes that.

use crate::machines::{START, dialled, effects, events, sent_to};
use fp_proto::access::{Action, Denial};
use fp_proto::config::{CohortConfig, ContactText, PublisherConfig, SubscriberConfig};
use fp_proto::effect::{DialTicket, DisconnectReason, Effect, Listing, PeerId};
use fp_proto::event::Event;
use fp_proto::message::Message;
use fp_proto::publisher::PublisherMachine;
use fp_proto::subscriber::SubscriberMachine;
use fp_types::Epoch;

const FIRST: PeerId = PeerId(1);
const SECOND: PeerId = PeerId(2);
const EPOCH: Epoch = Epoch(7);

fn contact(text: &str) -> ContactText {
    ContactText(text.to_owned())
}

fn entry(epoch: Epoch) -> Listing {
    Listing { epoch, contact: contact(&format!("entry {epoch}")) }
}

fn subscriber(direct: Option<ContactText>) -> SubscriberMachine {
    let cohort = CohortConfig::alone("watcher", contact("here"));
    let mut config = SubscriberConfig::new(cohort, Epoch(9), "stream");
    config.publisher_contact = direct;
    SubscriberMachine::new(config, START)
}

/// One that has found these entries, and the tickets of its dials.
fn searching(listing: Vec<Listing>) -> (SubscriberMachine, Vec<DialTicket>) {
    let mut machine = subscriber(None);
    assert!(matches!(effects(|| machine.poll())[..], [Effect::Lookup { .. }]));
    machine.handle_listing(START, listing);
    let ticket = |effect| if let Effect::Dial { ticket, .. } = effect { Some(ticket) } else { None };
    let tickets = effects(|| machine.poll()).into_iter().filter_map(ticket).collect();
    (machine, tickets)
}

/// What it says to a candidate as the dial has come through.
fn first_words(machine: &mut SubscriberMachine, ticket: DialTicket, peer: PeerId) -> Vec<Message> {
    machine.handle_dialled(START, ticket, peer);
    sent_to(&effects(|| machine.poll()), peer)
}

fn reply(epoch: Epoch, incumbent: bool) -> Message {
    Message::ProbeReply { epoch, incumbent }
}

#[test]
fn the_only_candidate_hears_at_once_what_is_wanted_and_once() {
    let (mut machine, tickets) = searching(vec![entry(EPOCH)]);
    let said = first_words(&mut machine, tickets[0], FIRST);
    assert!(matches!(said[..], [Message::Probe { .. }, Message::Subscribe { .. }]), "{said:?}");
    machine.handle_message(START, FIRST, reply(EPOCH, true));
    assert_eq!(sent_to(&effects(|| machine.poll()), FIRST), []);
    let mut publisher = publisher(Vec::new());
    let subscribed = answers(&mut publisher, said).pop().expect("an answer");
    machine.handle_message(START, FIRST, subscribed);
    assert!(events(&effects(|| machine.poll())).contains(&Event::Opened { epoch: EPOCH }));
}

#[test]
fn one_of_several_candidates_hears_what_is_wanted_when_it_is_the_one() {
    let (mut machine, tickets) = searching(vec![entry(EPOCH), entry(Epoch(8))]);
    for (ticket, peer) in tickets.into_iter().zip([FIRST, SECOND]) {
        let said = first_words(&mut machine, ticket, peer);
        assert!(matches!(said[..], [Message::Probe { .. }]), "{said:?}");
    }
    machine.handle_message(START, SECOND, reply(Epoch(8), true));
    let said = sent_to(&effects(|| machine.poll()), SECOND);
    assert!(matches!(said[..], [Message::Subscribe { .. }]), "{said:?}");
}

/// At a contact that somebody typed may be any rank.
#[test]
fn who_is_no_entry_is_asked_first_who_it_is() {
    let mut machine = subscriber(Some(contact("typed")));
    let ticket = dialled(&effects(|| machine.poll()));
    let said = first_words(&mut machine, ticket, FIRST);
    assert!(matches!(said[..], [Message::Probe { .. }]), "{said:?}");
}

/// It may say for long that it is not the one, as it drains. What is wanted may be long too.
#[test]
fn a_candidate_that_is_not_the_one_is_left_and_asked_first_from_then_on() {
    let (mut machine, tickets) = searching(vec![entry(EPOCH)]);
    first_words(&mut machine, tickets[0], FIRST);
    machine.handle_message(START, FIRST, reply(EPOCH, false));
    let left = effects(|| machine.poll());
    assert!(matches!(left[..], [Effect::Disconnect { peer: FIRST, .. }]), "{left:?}");
    machine.handle_listing(START, vec![entry(EPOCH)]);
    let ticket = dialled(&effects(|| machine.poll()));
    let said = first_words(&mut machine, ticket, SECOND);
    assert!(matches!(said[..], [Message::Probe { .. }]), "{said:?}");
    machine.handle_message(START, SECOND, reply(EPOCH, true));
    let said = sent_to(&effects(|| machine.poll()), SECOND);
    assert!(matches!(said[..], [Message::Subscribe { .. }]), "{said:?}");
}

/// A lone lead that found these entries of its name.
fn publisher(others: Vec<Listing>) -> PublisherMachine {
    let cohort = CohortConfig::alone("stream", contact("there"));
    let mut machine = PublisherMachine::new(PublisherConfig::new(cohort, EPOCH), START);
    machine.handle_listing(START, others);
    machine
}

fn answers(machine: &mut PublisherMachine, words: Vec<Message>) -> Vec<Message> {
    effects(|| machine.poll());
    machine.handle_accepted(START, FIRST);
    words.into_iter().for_each(|word| machine.handle_message(START, FIRST, word));
    sent_to(&effects(|| machine.poll()), FIRST)
}

#[test]
fn a_lone_lead_answers_both_at_once() {
    let (mut subscriber, tickets) = searching(vec![entry(EPOCH)]);
    let said = first_words(&mut subscriber, tickets[0], FIRST);
    let answers = answers(&mut publisher(Vec::new()), said);
    assert!(matches!(answers[..], [Message::ProbeReply { .. }, Message::Subscribed { .. }]), "{answers:?}");
}

/// It would count who is about to leave as the subscriber that it waits for.
#[test]
fn who_was_told_that_this_is_not_the_one_becomes_no_member() {
    let (mut subscriber, tickets) = searching(vec![entry(EPOCH)]);
    let said = first_words(&mut subscriber, tickets[0], FIRST);
    let mut claiming = publisher(vec![entry(Epoch(70))]);
    let claim = dialled(&effects(|| claiming.poll()));
    claiming.handle_accepted(START, FIRST);
    said.into_iter().for_each(|word| claiming.handle_message(START, FIRST, word));
    let heard = effects(|| claiming.poll());
    assert_eq!(sent_to(&heard, FIRST), [reply(EPOCH, false)]);
    let left = Effect::Disconnect { peer: FIRST, reason: DisconnectReason::Done };
    assert!(heard.contains(&left), "{heard:?}");
    claiming.handle_dial_failed(START, claim);
    let held = effects(|| claiming.poll());
    assert_eq!(events(&held), [Event::Opened { epoch: EPOCH }], "and nobody joined");
}

/// Nor is it told a refusal, or counted as one: it leaves, and may ask again.
#[test]
fn who_was_told_that_this_is_not_the_one_is_not_denied() {
    let mut claiming = publisher(vec![entry(Epoch(70))]);
    effects(|| claiming.poll());
    claiming.handle_accepted(START, FIRST);
    let (mut subscriber, tickets) = searching(vec![entry(EPOCH)]);
    let mut said = first_words(&mut subscriber, tickets[0], FIRST).into_iter();
    claiming.handle_message(START, FIRST, said.next().expect("a probe"));
    let denial = Denial { action: Action::Subscribe, rule: None, peer: "somebody".to_owned(), module: None };
    claiming.handle_denied(START, FIRST, said.next().expect("what is wanted"), denial);
    let heard = effects(|| claiming.poll());
    assert_eq!((sent_to(&heard, FIRST), events(&heard)), (vec![reply(EPOCH, false)], Vec::new()));
    let left = Effect::Disconnect { peer: FIRST, reason: DisconnectReason::Done };
    assert!(heard.contains(&left), "{heard:?}");
}
