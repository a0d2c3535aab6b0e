//! Who may do what: a table of rules, peers over shm, tcp and TLS, and what they ask for.

use crate::certificates::{Authority, Issued};
use crate::support::{PATIENCE, Place, STREAM, ending, eventually, publish, take, values};
use fp_core::diagnosis::status::{StatusError, StatusRefusal, StatusScope, status};
use fp_core::{
    Access, Action, Cohort, CohortSide, DerivedVariable, EndReason, Event, MemberEnd, ModuleHash, OpenError,
    Publisher, PublisherOptions, ReadError, Selection, Subscriber, SubscriberOptions, TlsOptions, Token,
    TokenHash, TransportKind, TransportPolicy,
};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::thread;

const LEN: u64 = 100;
const MODULE: &[u8] = b"a module that nobody runs";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Over {
    Shm,
    Tcp,
    Tls,
}

/// What a subscriber shows, beside what its transport tells.
#[derive(Clone, Copy, Debug)]
enum Shows {
    Nothing,
    /// The token that the list names.
    Token,
    /// A token that the list does not name.
    OtherToken,
}

#[derive(Clone, Copy, Debug)]
enum Asks {
    Steps,
    /// A variable that the publisher derives.
    Derived,
    /// One that it derives itself.
    DerivedHere,
    /// Whichever side has fewer bytes.
    DerivedAnywhere,
    /// A variable that a module derives.
    Deployed,
}

/// What comes of it: `Err` with the action that is refused and the rule that does it.
type Outcome = Result<(), (Action, Option<&'static str>)>;

/// `OWN` is the own user, `OTHER` another one, `HASH` the token's hash, `MODULE` that of the module.
const OWN: &str = "stream = '*'\nuid = OWN\nmay = ['subscribe']";
const OTHER: &str = "stream = '*'\nuid = OTHER\nmay = ['subscribe', 'derive', 'deploy']";
const ALL: &str =
    "stream = '*'\nanybody = true\nmay = ['subscribe', 'derive', 'deploy', 'watch', 'request', 'status']";
const SUBSCRIBE: &str = "stream = '*'\nanybody = true\nmay = ['subscribe']";
const NOTHING: &str = "name = 'nobody'\nstream = '*'\nanybody = true\nmay = []";
const DERIVE_ALONE: &str = "stream = '*'\nanybody = true\nmay = ['derive']";
const DERIVE: &str = "stream = 'str?am'\nanybody = true\nmay = ['subscribe', 'derive']";
const ELSEWHERE: &str = "stream = 'other*'\nanybody = true\nmay = ['subscribe', 'derive']";
const TOKEN: &str = "name = 'lab'\nstream = '*'\ntoken_hash = 'HASH'\nmay = ['subscribe', 'derive']";
const TOKEN_FILE: &str = "stream = '*'\ntoken_file = 'listed.token'\nmay = ['subscribe']";
const LAB: &str = "stream = '*'\ncertificate = 'Analyst.Lab'\nmay = ['subscribe', 'derive']";
const MINE: &str = "stream = '*'\ncertificate = 'flexpath'\nmay = ['subscribe']";
const NO_LAB: &str = "name = 'not the lab'\nstream = '*'\ncertificate = 'analyst.lab'\nmay = []";
const LATER: &str = "stream = '*'\nanybody = true\nmay = ['watch', 'request', 'status']";
const DEPLOY: &str =
    "stream = '*'\nanybody = true\nmay = ['subscribe', 'derive', 'deploy']\nmodules = ['MODULE']";
const DEPLOY_OTHER: &str =
    "stream = '*'\nanybody = true\nmay = ['subscribe', 'derive', 'deploy']\nmodules = ['HASH']";

/// The rules; over what; what it shows; what it asks for; what comes of it.
#[rustfmt::skip]
const CASES: &[(&[&str], Over, Shows, Asks, Outcome)] = &[
    // Whom no rule is for.
    (&[], Over::Shm, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, None))),
    (&[], Over::Tcp, Shows::Token, Asks::Steps, Err((Action::Subscribe, None))),
    (&[], Over::Tls, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, None))),
    (&[ELSEWHERE], Over::Shm, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, None))),
    (&[ELSEWHERE, SUBSCRIBE], Over::Shm, Shows::Nothing, Asks::Steps, Ok(())),
    (&[ELSEWHERE, SUBSCRIBE], Over::Tcp, Shows::Nothing, Asks::Derived, Err((Action::Derive, Some("rule 2")))),
    // By user: over shm alone.
    (&[OWN], Over::Shm, Shows::Nothing, Asks::Steps, Ok(())),
    (&[OTHER], Over::Shm, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, None))),
    (&[OWN], Over::Tcp, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, None))),
    (&[OWN], Over::Tls, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, None))),
    (&[OWN, DERIVE], Over::Tcp, Shows::Nothing, Asks::Derived, Ok(())),
    (&[OWN, DERIVE], Over::Shm, Shows::Nothing, Asks::Derived, Err((Action::Derive, Some("rule 1")))),
    (&[OTHER, OWN], Over::Shm, Shows::Nothing, Asks::Derived, Err((Action::Derive, Some("rule 2")))),
    // By token: over every transport.
    (&[TOKEN], Over::Shm, Shows::Token, Asks::Derived, Ok(())),
    (&[TOKEN], Over::Tcp, Shows::Token, Asks::Derived, Ok(())),
    (&[TOKEN], Over::Tls, Shows::Token, Asks::Derived, Ok(())),
    (&[TOKEN], Over::Shm, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, None))),
    (&[TOKEN], Over::Tcp, Shows::OtherToken, Asks::Steps, Err((Action::Subscribe, None))),
    (&[TOKEN], Over::Tls, Shows::OtherToken, Asks::Steps, Err((Action::Subscribe, None))),
    (&[TOKEN], Over::Tcp, Shows::Token, Asks::Deployed, Err((Action::Deploy, Some("rule 1 (lab)")))),
    (&[TOKEN_FILE], Over::Tcp, Shows::Token, Asks::Steps, Ok(())),
    (&[TOKEN_FILE], Over::Tcp, Shows::Token, Asks::Derived, Err((Action::Derive, Some("rule 1")))),
    (&[TOKEN_FILE, TOKEN], Over::Shm, Shows::Token, Asks::Derived, Err((Action::Derive, Some("rule 1")))),
    // By certificate: over TLS alone.
    (&[LAB], Over::Tls, Shows::Nothing, Asks::Derived, Ok(())),
    (&[MINE], Over::Tls, Shows::Nothing, Asks::Steps, Ok(())),
    (&[MINE], Over::Tls, Shows::Nothing, Asks::Derived, Err((Action::Derive, Some("rule 1")))),
    (&[LAB], Over::Tcp, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, None))),
    (&[LAB], Over::Shm, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, None))),
    (&[NO_LAB, ALL], Over::Tls, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, Some("rule 1 (not the lab)")))),
    (&[NO_LAB, ALL], Over::Tcp, Shows::Nothing, Asks::Steps, Ok(())),
    // The first rule that is for a peer decides alone.
    (&[NOTHING, ALL], Over::Shm, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, Some("rule 1 (nobody)")))),
    (&[ALL, NOTHING], Over::Tcp, Shows::Nothing, Asks::Derived, Ok(())),
    (&[DERIVE_ALONE], Over::Shm, Shows::Nothing, Asks::Derived, Err((Action::Subscribe, Some("rule 1")))),
    (&[LATER, ALL], Over::Tcp, Shows::Nothing, Asks::Steps, Err((Action::Subscribe, Some("rule 1")))),
    // What the publisher does not do needs no leave.
    (&[SUBSCRIBE], Over::Shm, Shows::Nothing, Asks::DerivedHere, Ok(())),
    (&[SUBSCRIBE], Over::Tcp, Shows::Nothing, Asks::DerivedAnywhere, Err((Action::Derive, Some("rule 1")))),
    // Modules, by their hash.
    (&[ALL], Over::Shm, Shows::Nothing, Asks::Deployed, Ok(())),
    (&[DERIVE], Over::Tls, Shows::Nothing, Asks::Deployed, Err((Action::Deploy, Some("rule 1")))),
    (&[DEPLOY], Over::Tcp, Shows::Nothing, Asks::Deployed, Ok(())),
    (&[DEPLOY_OTHER], Over::Tcp, Shows::Nothing, Asks::Deployed, Err((Action::Deploy, Some("rule 1")))),
    (&[DEPLOY_OTHER], Over::Shm, Shows::Nothing, Asks::Derived, Ok(())),
];

/// What all cases share.
struct Rig {
    authority: Authority,
    publisher: Issued,
    analyst: Issued,
    listed: Token,
    other: Token,
}

impl Rig {
    fn new() -> Self {
        let authority = Authority::new();
        let (publisher, analyst) =
            (authority.issue("flexpath"), authority.issue_for(&["flexpath", "analyst.lab"]));
        let random = || Token::random().expect("random bytes");
        Self { authority, publisher, analyst, listed: random(), other: random() }
    }

    fn tls(&self, own: &Issued) -> TlsOptions {
        TlsOptions::new(&own.certificate, &own.key, self.authority.path())
    }

    fn access(&self, place: &Place, rules: &[&str]) -> Access {
        Access::from_file(self.file(place, rules)).expect("a list")
    }

    /// A file of these rules.
    fn file(&self, place: &Place, rules: &[&str]) -> PathBuf {
        let token = place.path().join("listed.token");
        if !token.exists() {
            self.listed.write_file(&token).expect("written");
        }
        let uid = rustix::process::geteuid().as_raw();
        let text: String = rules.iter().map(|rule| format!("[[rule]]\n{rule}\n")).collect();
        let text = text.replace("OWN", &uid.to_string()).replace("OTHER", &(uid + 1).to_string());
        let text = text.replace("HASH", &TokenHash::of(&self.listed).to_string());
        let path = place.path().join("access.toml");
        std::fs::write(&path, text.replace("MODULE", &ModuleHash::of(MODULE).to_string())).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("its mode");
        path
    }

    fn publisher(&self, place: &Place, over: Over) -> PublisherOptions {
        let options = place.publisher_options();
        if over == Over::Tls { options.with_tls(self.tls(&self.publisher)) } else { options }
    }

    fn subscriber(&self, place: &Place, over: Over, shows: Shows) -> SubscriberOptions {
        let kind = if over == Over::Shm { TransportKind::Shm } else { TransportKind::Tcp };
        let options = place.subscriber_options().with_transports(TransportPolicy::only(kind));
        let options = if over == Over::Tls { options.with_tls(self.tls(&self.analyst)) } else { options };
        match shows {
            Shows::Nothing => options,
            Shows::Token => options.with_token(self.listed.clone()),
            Shows::OtherToken => options.with_token(self.other.clone()),
        }
    }
}

fn asking(options: SubscriberOptions, asks: Asks) -> SubscriberOptions {
    let placed = |placement| {
        let derived = DerivedVariable::new("most", "array | max").expect("a derivation");
        options.clone().with_request(derived.with_placement(placement)).expect("there is room")
    };
    match asks {
        Asks::Steps => options,
        Asks::Derived => placed(CohortSide::Publisher),
        Asks::DerivedHere => placed(CohortSide::Subscriber),
        Asks::DerivedAnywhere => placed(CohortSide::FewerBytes),
        Asks::Deployed => {
            let named = options.with_module("m", MODULE).expect("a module");
            named.with_derivation("made", "array | module(m)").expect("a derivation")
        }
    }
}

/// As whom the publisher knows a peer.
fn known_as(over: Over) -> String {
    match over {
        Over::Shm => {
            format!("process {} of user {}", std::process::id(), rustix::process::geteuid().as_raw())
        }
        Over::Tcp => "127.0.0.1:".to_owned(),
        Over::Tls => " with a certificate for flexpath, analyst.lab".to_owned(),
    }
}

fn check(rig: &Rig, (rules, over, shows, asks, expected): (&[&str], Over, Shows, Asks, Outcome)) {
    let place = Place::new();
    let options = rig.publisher(&place, over).with_access(rig.access(&place, rules));
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let opened = Subscriber::open(STREAM, asking(rig.subscriber(&place, over, shows), asks));
    let denied = |event| if let Event::Denied(denial) = event { Some(denial) } else { None };
    match expected {
        Ok(()) => {
            let mut subscriber = opened.expect("attached");
            let step = publish(&mut publisher, LEN);
            let taken = take(&mut subscriber);
            match asks {
                Asks::Steps => {
                    assert!(
                        taken.get::<u64>("array", Selection::All).expect("the array") == values(step, LEN)
                    );
                }
                Asks::Derived | Asks::DerivedHere | Asks::DerivedAnywhere => {
                    let most: Vec<u64> = taken.get("most", Selection::All).expect("derived");
                    assert_eq!(most, [(step << 32) | (LEN - 1)]);
                }
                // Whose code is run is not for the list to say.
                Asks::Deployed => assert!(taken.get::<u64>("made", Selection::All).is_err()),
            }
            drop(taken);
            subscriber.close().expect("left");
            assert_eq!(publisher.events().into_iter().find_map(denied), None);
        }
        Err((action, rule)) => {
            let error = opened.err().expect("it is refused");
            let OpenError::Denied { denial, .. } = error else { panic!("by the list: {error}") };
            assert_eq!((denial.action, denial.rule.as_deref()), (action, rule));
            assert!(denial.peer.contains(&known_as(over)), "{denial:?}");
            let told = publisher.events().into_iter().find_map(denied);
            assert_eq!(told, Some(denial), "the publisher's own event says the same");
        }
    }
    publisher.close().expect("closed");
}

#[test]
fn who_may_do_what_over_shm_tcp_and_tls() {
    let rig = Rig::new();
    assert!(CASES.len() >= 40);
    for (number, case) in CASES.iter().enumerate() {
        eprintln!("case {number}: {case:?}");
        check(&rig, *case);
    }
}

/// `Err` with the rule that refuses, if one does.
type Answered = Result<(), Option<&'static str>>;

/// The rules; over what; what an observer shows; what comes of it.
const OBSERVERS: &[(&[&str], Over, Shows, Answered)] = &[
    (&[], Over::Shm, Shows::Nothing, Err(None)),
    (&[SUBSCRIBE], Over::Shm, Shows::Nothing, Err(Some("rule 1"))),
    (&[SUBSCRIBE, LATER], Over::Tcp, Shows::Nothing, Err(Some("rule 1"))),
    (&[OWN, LATER], Over::Tcp, Shows::Nothing, Ok(())),
    (&[LATER], Over::Shm, Shows::Nothing, Ok(())),
    (&[TOKEN, LATER], Over::Tcp, Shows::Token, Err(Some("rule 1 (lab)"))),
    (&[TOKEN, LATER], Over::Tcp, Shows::Nothing, Ok(())),
    (&[NO_LAB, ALL], Over::Tls, Shows::Nothing, Err(Some("rule 1 (not the lab)"))),
    (&[ALL], Over::Tls, Shows::Nothing, Ok(())),
];

/// Whoever asks for the status is looked at as whoever subscribes.
#[test]
fn status_is_told_to_those_whom_the_list_lets_ask() {
    let rig = Rig::new();
    for &(rules, over, shows, expected) in OBSERVERS {
        let place = Place::new();
        let options = rig.publisher(&place, over).with_access(rig.access(&place, rules));
        let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
        let link = rig.subscriber(&place, over, shows).link;
        let answer = status(STREAM, StatusScope::Stream, &link, PATIENCE);
        let case = format!("{rules:?}, {over:?}, {shows:?}");
        match expected {
            Ok(()) => assert_eq!(answer.expect(&case).cohorts.len(), 1, "{case}"),
            Err(rule) => {
                let error = answer.expect_err(&case);
                let StatusError::Refused { refusal: StatusRefusal::Denied(denial), .. } = error else {
                    panic!("{case}: by the list: {error}");
                };
                assert_eq!((denial.action, denial.rule.as_deref()), (Action::Status, rule), "{case}");
                assert!(denial.peer.contains(&known_as(over)), "{denial:?}");
                assert!(publisher.events().contains(&Event::Denied(denial)), "{case}");
            }
        }
        publisher.close().expect("closed");
    }
}

/// What the lead lets through another rank may refuse: each looks at what it is asked itself.
#[test]
fn every_rank_looks_at_what_it_is_asked() {
    let (rig, place) = (Rig::new(), Place::new());
    let of_two = |rank| Cohort::of(rank, 2).expect("a cohort");
    let publishers = [SUBSCRIBE, NOTHING].map(|rule| rig.access(&place, &[rule]));
    let publishers: Vec<_> = (0..).zip(publishers).collect();
    let publishers = publishers.into_iter().map(|(rank, access)| {
        let options = place.publisher_options().with_cohort(of_two(rank)).with_min_subscribers(1);
        thread::spawn(move || {
            let options = options.with_access(access);
            let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
            publish_half(&mut publisher, u64::from(rank));
            let denied = move |publisher: &mut Publisher| {
                let is_denial = |event: &Event| matches!(event, Event::Denied(_));
                publisher.events().iter().any(is_denial)
            };
            let refused = rank == 0 || {
                eventually("a refusal", || denied(&mut publisher));
                true
            };
            assert!(refused);
            publisher.close().expect("closed");
        })
    });
    let publishers: Vec<_> = publishers.collect();
    let subscribers = [0, 1].map(|rank| {
        let options = place.subscriber_options().with_name("readers").with_cohort(of_two(rank));
        thread::spawn(move || {
            let mut subscriber = Subscriber::open(STREAM, options).expect("the lead lets it in");
            let error =
                take(&mut subscriber).get::<u64>("array", Selection::All).expect_err("half is refused");
            let ReadError::Denied { rank: of, denial, .. } = error else { panic!("refused: {error}") };
            assert_eq!((of.0, denial.rule.as_deref()), (1, Some("rule 1 (nobody)")));
            subscriber.close().expect("left");
        })
    });
    subscribers.into_iter().for_each(|rank| rank.join().expect("no panic"));
    publishers.into_iter().for_each(|rank| rank.join().expect("no panic"));
}

fn publish_half(publisher: &mut Publisher, rank: u64) {
    let (variable, _) = crate::support::array(2 * LEN);
    let region = fp_core::Region::new([rank * LEN], [LEN]).expect("inside");
    let mut writer = publisher.begin_step().expect("a step");
    writer.put(&variable, &region, values(rank, LEN)).expect("put");
    writer.end().expect("ended");
}

#[test]
fn who_asks_for_more_later_is_detached_and_told_why() {
    let (rig, place) = (Rig::new(), Place::new());
    let options = place.publisher_options().with_access(rig.access(&place, &[SUBSCRIBE]));
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let options = rig.subscriber(&place, Over::Shm, Shows::Nothing);
    let mut subscriber = Subscriber::open(STREAM, asking(options, Asks::DerivedHere)).expect("attached");
    publish(&mut publisher, LEN);
    drop(take(&mut subscriber));
    subscriber.place("most", CohortSide::Publisher).expect("asked");
    let reason = ending(&mut subscriber).reason;
    let EndReason::Denied(denial) = &reason else { panic!("denied: {reason:?}") };
    assert_eq!((denial.action, denial.rule.as_deref()), (Action::Derive, Some("rule 1")));
    let mut events = Vec::new();
    eventually("the publisher knows", || {
        events.extend(publisher.events());
        events.iter().any(|event| matches!(event, Event::SubscriptionEnded { .. }))
    });
    let left =
        events.iter().any(|event| matches!(event, Event::MemberLeft { reason: MemberEnd::Denied, .. }));
    assert!(left && events.contains(&Event::Denied(denial.clone())), "{events:?}");
    publish(&mut publisher, LEN);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

/// A token of the list is no token of the run: it lets nobody in among the publisher's ranks.
#[test]
fn tokens_of_the_list_are_for_subscribers() {
    let (rig, place) = (Rig::new(), Place::new());
    let lead =
        place.publisher_options().with_token(rig.other.clone()).with_access(rig.access(&place, &[TOKEN]));
    let lead = lead.with_cohort(Cohort::of(0, 2).expect("a cohort"));
    let opening = thread::spawn(move || Publisher::open(STREAM, lead).expect("both are here"));
    let rank = |token: &Token| {
        let options = place.publisher_options().with_token(token.clone());
        Publisher::open(STREAM, options.with_cohort(Cohort::of(1, 2).expect("a cohort")))
    };
    let refused = rank(&rig.listed).err().expect("it is no rank");
    let OpenError::Denied { denial, .. } = &refused else { panic!("denied: {refused}") };
    assert_eq!(denial.action, Action::Join);
    let second = rank(&rig.other).expect("the run's own");
    let first = opening.join().expect("no panic");
    let listed = rig.subscriber(&place, Over::Tcp, Shows::Token);
    let subscriber = Subscriber::open(STREAM, listed).expect("attached with the list's token");
    let none = rig.subscriber(&place, Over::Tcp, Shows::Nothing);
    let error = Subscriber::open(STREAM, none).err().expect("no token");
    assert!(matches!(error, OpenError::Refused { .. }), "{error}");
    let run = rig.subscriber(&place, Over::Tcp, Shows::OtherToken);
    let error =
        Subscriber::open(STREAM, run).err().expect("the run's token is for ranks, unless a rule names it");
    assert!(matches!(error, OpenError::Denied { .. }), "{error}");
    subscriber.close().expect("left");
    let closing = thread::spawn(move || second.close().expect("closed"));
    first.close().expect("closed");
    closing.join().expect("no panic");
}
