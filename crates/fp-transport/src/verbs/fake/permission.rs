//! Device files that this user may not open.

use super::{FILES, device, install};
use crate::verbs::device_list::verbs_devices;
use crate::verbs::error::VerbsTrouble;
use std::os::unix::fs::symlink;

/// A file that nobody may write to, and root neither.
const READ_ONLY: &str = "/sys/devices/system/cpu/online";

#[test]
fn a_device_file_that_cannot_be_opened_is_named_with_what_the_user_needs() {
    install(&[device(c"fake0")]);
    assert_eq!(verbs_devices().expect("all files can be opened").len(), 1);
    let file = FILES.with(|files| format!("{}/uverbs0", files.0));
    symlink(READ_ONLY, &file).expect("the folder is ours");
    let trouble = verbs_devices().expect_err("one cannot");
    assert!(matches!(&trouble, VerbsTrouble::NoPermission { path, .. } if *path == file), "{trouble}");
    let said = trouble.to_string();
    let expected = format!("{file} cannot be opened (Permission denied");
    assert!(
        said.starts_with(&expected) && said.ends_with("the user needs read and write access to it"),
        "{said}"
    );
    // As soon as it can, all is well: nothing is remembered of it.
    std::fs::remove_file(&file).expect("the link is ours");
    assert_eq!(verbs_devices().expect("all files can be opened").len(), 1);
}
