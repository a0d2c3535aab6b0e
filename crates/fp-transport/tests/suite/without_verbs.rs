//! A machine without RDMA's libraries, as a process sees it whose loader does not find them. The process starts, says
//! why, and links go by something else. Where none are installed it is the same without any hiding.

use crate::support::{EPOCH, accept, child_command, role, soon, token};
use fp_transport::{DialError, DialOptions, ListenOptions, Listener, TransportKind, TransportPolicy};
use fp_transport::{Reason, VerbsTrouble, dial, verbs_devices};
use std::fs;

const LIBRARIES: [&str; 2] = ["libibverbs.so.1", "librdmacm.so.1"];

#[test]
fn a_process_without_the_libraries_says_so_and_uses_something_else() {
    for hidden in [&LIBRARIES[..1], &LIBRARIES[1..], &LIBRARIES[..]] {
        let folder = std::env::temp_dir().join(format!("flexpath-without-verbs-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        for name in hidden {
            fs::write(folder.join(name), "no library").expect("written");
        }
        let mut child = child_command(module_path!(), &hidden.join(" "), None);
        let ended = child.env("LD_LIBRARY_PATH", &folder).status();
        fs::remove_dir_all(&folder).expect("removed");
        let ended = ended.expect("it starts");
        assert!(ended.success(), "{hidden:?}: {ended}");
    }
}

/// What the processes of this test do; nothing in the test's own.
#[test]
fn child_entry() {
    let Some((hidden, _)) = role() else { return };
    let trouble = verbs_devices().expect_err("no library");
    let VerbsTrouble::NoLibrary { library, .. } = &trouble else { panic!("{trouble}") };
    // Either this one is hidden, or it is not installed.
    assert!(hidden.contains(library) || LIBRARIES.contains(library), "{trouble}");
    let address = "127.0.0.1:0".parse().expect("an address");
    let listening = ListenOptions::new(EPOCH).with_token(Some(token())).with_verbs(Some(address));
    let mut listener = Listener::bind(listening).expect("it listens by other transports");
    assert_eq!(listener.verbs_trouble(), Some(&trouble));
    // As the contact of one that has a device.
    let contact = format!("{},verbs=10.77.0.1:7000", listener.contact()).parse().expect("a contact");
    let policy: TransportPolicy = "verbs,tcp".parse().expect("a list");
    let strict = policy.clone().with_forbid_fallback(true);
    let options = DialOptions::new(soon()).with_policy(strict).with_token(Some(token()));
    let error = dial(&contact, &options).expect_err("nothing but verbs will do");
    assert!(matches!(error, DialError::FallbackForbidden { .. }), "{error}");
    let refused = error.refused().last().map(|(kind, reason)| (*kind, reason.clone()));
    assert_eq!(refused, Some((TransportKind::Verbs, Reason::Verbs(trouble.clone()))));
    let options = DialOptions::new(soon()).with_policy(policy).with_token(Some(token()));
    let dialling = std::thread::spawn(move || dial(&contact, &options));
    assert_eq!(accept(&mut listener).link.transport(), TransportKind::Tcp);
    let link = dialling.join().expect("no panic").expect("the dial succeeds");
    let told = link.negotiated().to_string();
    assert!(link.transport() == TransportKind::Tcp && told.contains(library), "{told}");
}
