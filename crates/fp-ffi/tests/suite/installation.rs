//! What `make install` and `make uninstall` do, with a cargo that builds nothing. It notes what it was asked for. Then it
//! says that it built a small program and a small library, somewhere else than in `target`.

use crate::support::{of_repository, place, printed};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A cargo that notes its words and answers as cargo does.
const CARGO: &str = r#"#!/bin/sh
echo "$@" >>"$NOTES"
printf '{"reason":"compiler-artifact","filenames":["%s/libfp_ffi.so","%s/libfp_ffi.rlib"],"executable":null}\n' "$BUILT" "$BUILT"
printf '{"reason":"compiler-artifact","filenames":["%s/flexpath"],"executable":"%s/flexpath","fresh":true}\n' "$BUILT" "$BUILT"
printf '{"reason":"build-finished","success":true}\n'
"#;

/// A home with a cargo of its own, and what that has built.
struct Site {
    folder: TempDir,
}

impl Site {
    fn new() -> Self {
        let folder = place();
        let site = Self { folder };
        std::fs::create_dir_all(site.path("moved/release")).expect("a folder");
        std::fs::create_dir_all(site.path("tools")).expect("a folder");
        std::fs::write(site.path("tools/cargo"), CARGO).expect("written");
        std::fs::write(site.path("one.c"), "int main(void) { return 0; }\n").expect("written");
        site.run(Command::new("chmod").arg("+x").arg(site.path("tools/cargo")));
        let compile = |options: &[&str], name: &str| {
            let mut compiler = Command::new("cc");
            compiler.arg("-g").args(options).arg(site.path("one.c")).arg("-o").arg(site.path(name));
            site.run(&mut compiler);
        };
        compile(&[], "moved/release/flexpath");
        compile(&["-shared", "-fPIC"], "moved/release/libfp_ffi.so");
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, command: &mut Command) -> String {
        printed(command.output().expect("it runs"))
    }

    /// Runs the script from this folder.
    fn script(&self, words: &[&str]) -> Output {
        self.prepared(words).output().expect("the script runs")
    }

    fn prepared(&self, words: &[&str]) -> Command {
        let search = format!("{}:{}", self.path("tools").display(), std::env::var("PATH").expect("a path"));
        let mut script =
            Command::new(std::fs::canonicalize(of_repository("scripts/install.sh")).expect("there"));
        script
            .args(words)
            .current_dir(self.folder.path())
            .env("PATH", search)
            .env("HOME", self.folder.path());
        script.env("NOTES", self.path("notes")).env("BUILT", self.path("moved/release"));
        // No module for Fortran: its compiler takes its time.
        script.env("FC", "none").env_remove("DEPLOY");
        script
    }

    fn notes(&self) -> String {
        std::fs::read_to_string(self.path("notes")).unwrap_or_default()
    }
}

fn has_debug_information(file: &Path) -> bool {
    let sections = Command::new("objdump").arg("-h").arg(file).output().expect("binutils are there");
    printed(sections).contains(".debug_info")
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<String> {
    let found = Command::new("find").arg(folder).args(["!", "-type", "d"]).output().expect("find runs");
    printed(found).lines().map(str::to_owned).collect()
}

#[test]
fn both_are_built_by_one_call_found_where_they_are_and_stripped() {
    let site = Site::new();
    printed(site.script(&["install", "installed/here"]));
    let expected =
        "build --release -p flexpath-cli -p flexpath-ffi --message-format json-render-diagnostics\n";
    assert_eq!(site.notes(), expected);
    let prefix = site.path("installed/here");
    for name in ["bin/flexpath", "lib/libflexpath.so"] {
        assert!(!has_debug_information(&prefix.join(name)), "{name}");
    }
    assert!(has_debug_information(&site.path("moved/release/flexpath")), "what was built stays as it was");
    site.run(&mut Command::new(prefix.join("bin/flexpath")));
    // The folder was named from here, and everything that says where it is names it in full.
    let package = std::fs::read_to_string(prefix.join("lib/pkgconfig/flexpath.pc")).expect("it is there");
    let prefix = std::fs::canonicalize(prefix).expect("it is there");
    let named = package.lines().next().and_then(|line| line.strip_prefix("prefix=")).expect("a prefix");
    assert_eq!(std::fs::canonicalize(named).expect("absolute"), prefix, "{package}");
    assert!(named.starts_with('/'), "{package}");
}

#[test]
fn deployed_code_is_built_in_where_that_was_asked_for() {
    let site = Site::new();
    printed(site.prepared(&["install", "here"]).env("DEPLOY", "yes").output().expect("the script runs"));
    let expected = "build --release -p flexpath-cli -p flexpath-ffi --features flexpath-ffi/wasm \
                    --message-format json-render-diagnostics\n";
    assert_eq!(site.notes(), expected);
}

#[test]
fn a_home_is_found_and_that_of_others_is_refused() {
    let site = Site::new();
    printed(site.script(&["install", "~/.local"]));
    assert!(site.path(".local/bin/flexpath").exists() && !site.path("~").exists());
    let refused = |prefix: &str, why: &str| {
        let output = site.script(&["install", prefix]);
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && complaint.contains(why), "{complaint}");
    };
    refused("~somebody/local", "PREFIX=~somebody/local: folders of other users are not looked up");
    refused("", "PREFIX is empty");
    assert_eq!(site.notes().lines().count(), 1, "nothing was built for what was refused");
}

#[test]
fn twice_is_as_good_as_once_and_nothing_stays_behind() {
    let site = Site::new();
    let staged = site.path("staged");
    let words = ["/usr", staged.to_str().expect("a text")];
    let install = || printed(site.script(&[&["install"], &words[..]].concat()));
    install();
    let first = files(&staged);
    // What an earlier version had and this one has not.
    let (list, old) =
        (staged.join("usr/share/flexpath/installed"), staged.join("usr/lib/libflexpath.so.0.0.1"));
    let known = std::fs::read_to_string(&list).expect("a list");
    std::fs::write(&list, format!("{known}lib/libflexpath.so.0.0.1\n")).expect("written");
    std::fs::write(&old, "old").expect("written");
    install();
    assert_eq!(files(&staged), first);
    std::fs::write(staged.join("usr/lib/another.so"), "another's").expect("written");
    let uninstall = || printed(site.script(&[&["uninstall"], &words[..]].concat()));
    assert!(uninstall().contains("removed from"));
    assert_eq!(files(&staged), [staged.join("usr/lib/another.so").display().to_string()]);
    assert!(!staged.join("usr/share/flexpath").exists() && !staged.join("usr/lib/cmake/Flexpath").exists());
    assert!(uninstall().contains("nothing to remove"));
}
