//! Smoke test of publisher and subscriber in one process and in two.
use fp_core::*;
use std::time::Duration;
fn opts(dir: &std::path::Path) -> (PublisherOptions, SubscriberOptions) {
    std::fs::create_dir_all(dir).unwrap();
    let r = Rendezvous::at(dir).unwrap();
    (PublisherOptions::default().with_rendezvous(r.clone()), SubscriberOptions::default().with_rendezvous(r))
}
fn run(kind: Option<TransportKind>) {
    let dir = std::env::temp_dir().join(format!("fp-smoke-{}-{:?}", std::process::id(), kind));
    let (mut p, mut s) = opts(&dir);
    if let Some(kind) = kind {
        p = p.with_transports(TransportPolicy::only(kind));
        s = s.with_transports(TransportPolicy::only(kind));
    }
    let publisher = std::thread::spawn(move || {
        let mut publisher = Publisher::open("heat", p.with_min_subscribers(1)).unwrap();
        let t = Variable::global::<f64>("t", &[64, 64]).unwrap();
        let n = Variable::scalar::<u64>("n").expect("a name");
        for step in 0..20u64 {
            let mut w = publisher.begin_step().unwrap();
            let values: Vec<f64> = (0..4096).map(|i| (i + step * 10000) as f64).collect();
            let region = Region::new([0, 0], [64, 64]).unwrap();
            w.put(&t, &region, values).unwrap();
            w.put_scalar(&n, step).unwrap();
            w.end().unwrap();
        }
        let stats = publisher.statistics();
        publisher.close().unwrap();
        println!("{stats:?}");
    });
    let mut subscriber = Subscriber::open("heat", s).unwrap();
    let mut seen = 0;
    loop {
        match subscriber.next_step(Duration::from_secs(5)).unwrap() {
            NextStep::Step(step) => {
                assert_eq!(step.step().0, seen);
                assert_eq!(step.scalar::<u64>("n").unwrap(), seen);
                assert_eq!(step.get::<u64>("n", &Selection::All).unwrap(), [seen]);
                let got: Vec<f64> =
                    step.get("t", Selection::Region(Region::new([1, 2], [3, 4]).unwrap())).unwrap();
                assert_eq!(got[0], (64 + 2 + seen * 10000) as f64);
                let all: Vec<f64> = step.get("t", &Selection::All).unwrap();
                assert_eq!(all[4095], (4095 + seen * 10000) as f64);
                let view = step.view::<f64>("t", &Selection::All).unwrap();
                assert_eq!(view[17], (17 + seen * 10000) as f64);
                seen += 1;
            }
            NextStep::NotYet => panic!("not yet after {seen}"),
            NextStep::Ended(e) => {
                println!("{e:?}");
                break;
            }
        }
    }
    assert_eq!(seen, 20);
    println!("{:?} {:?}", subscriber.statistics(), subscriber.transports());
    subscriber.close().unwrap();
    publisher.join().unwrap();
    let _ = std::fs::remove_dir_all(dir);
}
#[test]
fn default_works() {
    run(None);
}
#[test]
fn shm_works() {
    run(Some(TransportKind::Shm));
}
#[test]
fn tcp_works() {
    run(Some(TransportKind::Tcp));
}
