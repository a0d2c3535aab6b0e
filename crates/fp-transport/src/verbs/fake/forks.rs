//! Programs that fork, where the kernel does not copy pinned pages: the library has to be told before anything else.

use super::{ANSWERS, Answers, device, install, over};
use crate::verbs::error::VerbsTrouble;
use crate::verbs::landing_memory::ReadTarget;
use rustix::io::Errno;

#[test]
fn memory_of_the_program_is_not_registered_where_a_fork_would_part_it_from_the_device() {
    ANSWERS.set(Answers { fork: Errno::INVAL.raw_os_error(), ..Answers::of(0, 0) });
    let context = device(c"fake0");
    install(&[context]);
    let stream = over(context);
    let mut memory = vec![0; 10_000];
    let mut guard = ReadTarget::new(&mut memory);
    let trouble = stream.register(guard.parts().1).expect_err("a fork would part it");
    assert!(matches!(trouble, VerbsTrouble::Fork { .. }), "{trouble}");
    assert!(trouble.to_string().contains("RDMAV_FORK_SAFE=1"), "{trouble}");
    assert_eq!(guard.devices(), 0);
    stream.landing(10_000).expect("own mappings are not inherited");
}

#[test]
fn memory_of_the_program_is_registered_once_the_library_is_ready_for_forks() {
    let context = device(c"fake0");
    install(&[context]);
    let mut memory = vec![0; 10_000];
    let mut guard = ReadTarget::new(&mut memory);
    over(context).register(guard.parts().1).expect("registered");
    assert_eq!(guard.devices(), 1);
}
