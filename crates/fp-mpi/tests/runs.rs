//! The example under `mpirun`: four ranks publish to two, with the MPI that this was built against (`FLEXPATH_MPI`).

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

fn name() -> String {
    std::env::var("FLEXPATH_MPI").unwrap_or_else(|_| "openmpi".to_owned())
}

/// Cargo builds the examples beside the tests.
fn example() -> PathBuf {
    let test = std::env::current_exe().expect("this test knows where it is");
    let folder = test.parent().and_then(Path::parent).expect("tests lie in deps");
    folder.join("examples/heat")
}

fn run(ranks: u32, role: &str, place: &Path) -> Child {
    let mut command = Command::new(format!("mpirun.{}", name()));
    if name() == "openmpi" {
        command.arg("--oversubscribe");
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env("OMPI_MCA_btl", "self,vader").env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    }
    // Two runs of Open MPI that begin at one moment make the same folder there, and one of them fails.
    let own = place.with_extension(role);
    std::fs::create_dir(&own).expect("made");
    command.env("TMPDIR", own);
    command.arg("-n").arg(ranks.to_string()).arg(example()).arg(role).env("FLEXPATH_RENDEZVOUS", place);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mpirun starts")
}

fn printed(child: Child) -> String {
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a text")
}

/// What was built against the other MPI would be kept in its place without a word.
#[test]
fn the_example_is_linked_to_the_mpi_that_is_meant() {
    let output = Command::new("ldd").arg(example()).output().expect("ldd runs");
    let libraries = String::from_utf8(output.stdout).expect("a text");
    let (wanted, other) = match name().as_str() {
        "mpich" => ("libmpich.so", "libopen-rte.so"),
        _ => ("libopen-rte.so", "libmpich.so"),
    };
    assert!(libraries.contains(wanted) && !libraries.contains(other), "{libraries}");
}

#[test]
fn four_ranks_publish_to_two() {
    let place = std::env::temp_dir().join(format!("flexpath-mpi-test-{}", std::process::id()));
    std::fs::create_dir(&place).expect("made");
    let (publish, subscribe) = (run(4, "publish", &place), run(2, "subscribe", &place));
    let took = printed(subscribe);
    printed(publish);
    let own = ["publish", "subscribe"].map(|role| place.with_extension(role));
    own.iter().chain([&place]).for_each(|folder| std::fs::remove_dir_all(folder).expect("removed"));
    assert_eq!(took, "took 10 steps, each cell as published\n");
}
