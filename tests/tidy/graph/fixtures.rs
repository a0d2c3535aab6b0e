//! Small packages in memory, each with one kind of import in it.

use super::arrows::Graph;
use super::layers::Layers;
use super::tree::Tree;
use crate::source::{Source, Text};

/// The graph of a package in the folder `p`, from its files below `src/`.
fn graph(files: &[(&str, &str)]) -> Graph {
    let parsed =
        files.iter().map(|(path, content)| Source::parse(&format!("p/src/{path}"), content).unwrap());
    let manifest = Text { path: "p/Cargo.toml".into(), content: "[package]\nname = \"the-lib\"\n".into() };
    Graph::of(Tree::of_package("p", Some(&manifest), &parsed.collect::<Vec<_>>()))
}

/// The arrows of a package as `from>to:names`.
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let graph = graph(files);
    let path = |file: usize| graph.files[file].path.trim_start_matches("p/src/").trim_end_matches(".rs");
    let arrows = graph.arrows.iter();
    let mut shown: Vec<String> = arrows
        .map(|((from, to), names)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            format!("{}>{}:{}", path(*from), path(*to), names.join(","))
        })
        .collect();
    shown.sort();
    shown
}

/// The arrows from the file `a.rs`, beside a file `b.rs` and a file `b/c.rs`.
fn from_a(a: &str, b: &str, c: &str) -> Vec<String> {
    arrows(&[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", &format!("pub mod c; {b}")), ("b/c.rs", c)])
}

#[test]
fn a_declaration_is_no_arrow() {
    assert!(from_a("", "", "").is_empty());
}

#[test]
fn imports_are_arrows_however_they_begin() {
    let b = "pub struct B;";
    for import in
        ["use crate::b::B;", "use super::b::B;", "use super::b::{self, B};", "use crate::b::B as D;"]
    {
        assert_eq!(from_a(import, b, ""), ["a>b:B"], "{import}");
    }
    assert_eq!(from_a("", "use self::c::C; struct B;", "pub struct C;"), ["b>b/c:C"]);
    assert_eq!(from_a("", b, "use super::B;"), ["b/c>b:B"]);
    assert_eq!(from_a("fn f() { use crate::b::B; }", b, ""), ["a>b:B"]);
    assert_eq!(from_a("mod inside { use super::super::b::B; }", b, ""), ["a>b:B"]);
}

#[test]
fn paths_are_arrows_wherever_they_stand() {
    let b = "pub struct B; pub enum E { F } pub fn f() {} pub trait T {}";
    for code in ["fn g(b: crate::b::B) {}", "struct S(Vec<crate::b::B>);", "fn g() { crate::b::B::new(1) }"] {
        assert_eq!(from_a(code, b, ""), ["a>b:B"], "{code}");
    }
    assert_eq!(from_a("fn g(e: u8) { match e { crate::b::E::F => {} } }", b, ""), ["a>b:E"]);
    assert_eq!(from_a("impl crate::b::T for u8 {}", b, ""), ["a>b:T"]);
    assert_eq!(from_a("struct S { #[serde(with = \"crate::b::f\")] s: u8 }", b, ""), ["a>b:f"]);
}

#[test]
fn a_module_in_scope_leads_to_what_is_named_inside_of_it() {
    assert_eq!(from_a("use crate::b::c; fn g() { c::f() }", "", "pub fn f() {}"), ["a>b/c:f"]);
    assert_eq!(from_a("use crate::b; fn g() { b::c::f() }", "", "pub fn f() {}"), ["a>b/c:f"]);
    assert!(from_a("use crate::b;", "", "").is_empty(), "nothing of it is used");
}

#[test]
fn paths_in_macros_are_arrows() {
    let b = "pub struct B; pub fn f() {}";
    assert_eq!(from_a("fn g() { println!(\"{}\", crate::b::f()) }", b, ""), ["a>b:f"]);
    assert_eq!(from_a("macro_rules! m { () => { use $crate::b::{f, B}; } }", b, ""), ["a>b:B,f"]);
}

#[test]
fn macros_are_arrows_to_where_they_are_defined() {
    let b = "macro_rules! m { () => {} } pub(crate) use m; #[macro_export] macro_rules! n { () => {} }";
    assert_eq!(from_a("crate::b::m!();", b, ""), ["a>b:m"]);
    assert_eq!(from_a("use crate::b::m; m!();", b, ""), ["a>b:m"]);
    assert_eq!(from_a("fn f() { crate::n!() }", b, ""), ["a>b:n"], "exported ones stand in the root");
    assert_eq!(from_a("", b, "m!();"), ["b/c>b:m"], "by the scope of the text");
}

#[test]
fn what_a_macro_makes_is_defined_where_it_is_called() {
    let b = "macro_rules! m { ($n:ident) => { pub struct $n; } } m!(B);";
    assert_eq!(from_a("use crate::b::B;", b, ""), ["a>b:B"]);
    assert_eq!(from_a("use crate::b::*; fn f() -> B {}", b, ""), ["a>b:B"]);
}

#[test]
fn globs_are_arrows_to_what_is_used_of_them() {
    let (b, c) = ("pub use c::*; pub struct B;", "pub struct C; pub struct D;");
    assert_eq!(from_a("use crate::b::*; fn f(c: C) {}", b, c), ["a>b/c:C", "b>b/c:*"]);
    assert_eq!(from_a("use crate::b::*; fn f(c: B) {}", b, c), ["a>b:B", "b>b/c:*"]);
    assert_eq!(from_a("use crate::b::*;", b, c), ["a>b:*", "b>b/c:*"], "traits may be used unseen");
}

#[test]
fn a_chain_of_faces_leads_to_the_definition() {
    let files = [
        ("lib.rs", "mod a; mod b; mod d; pub use b::C;"),
        ("a.rs", "use crate::d::Renamed;"),
        ("b/mod.rs", "mod c; pub(crate) use c::C;"),
        ("b/c.rs", "pub struct C;"),
        ("d.rs", "pub(crate) use crate::b::C as Renamed;"),
    ];
    assert_eq!(arrows(&files), ["a>b/c:C", "b/mod>b/c:C", "d>b/c:C", "lib>b/c:C"]);
}

#[test]
fn tests_are_left_out() {
    let b = "pub struct B;";
    for code in [
        "mod tests { use crate::b::B; }",
        "use crate::b::B;",
        "impl crate::b::B {}",
        "fn f(b: crate::b::B) {}",
    ] {
        assert!(from_a(&format!("#[cfg(test)] {code}"), b, "").is_empty(), "{code}");
    }
    assert!(from_a("struct S; impl S { #[cfg(test)] fn f() { crate::b::f() } }", b, "").is_empty());
    assert!(from_a("fn f() { #[cfg(test)] let b = crate::b::B; }", b, "").is_empty());
    let files = [("lib.rs", "#[cfg(test)] mod a; mod b;"), ("a.rs", "use crate::b::B;"), ("b.rs", b)];
    assert!(arrows(&files).is_empty());
}

#[test]
fn files_are_found_where_a_declaration_says() {
    let files = [
        ("lib.rs", "#[path = \"far/away.rs\"] mod a; mod b { pub mod c; }"),
        ("far/away.rs", "mod near; use crate::b::c::C;"),
        ("far/near.rs", "use super::super::b::c::C;"),
        ("b/c.rs", "pub struct C;"),
        ("bin/tool.rs", "use the_lib::b::c::C;"),
    ];
    assert_eq!(arrows(&files), ["bin/tool>b/c:C", "far/away>b/c:C", "far/near>b/c:C"]);
}

#[test]
fn other_crates_are_no_arrows() {
    let b = "pub use other::b::C; pub struct B;";
    assert!(
        from_a("use crate::b::C; use other::b::B; use ::b::B; fn f(v: Vec<u8>) { std::b::B }", b, "")
            .is_empty()
    );
}

#[test]
fn a_module_and_its_own_children_are_a_room() {
    let complaints = |files: &[(&str, &str)]| graph(files).circle_complaints();
    let root = ("lib.rs", "mod b; mod a;");
    let room = [
        root,
        ("a.rs", ""),
        ("b.rs", "mod c; use c::C; pub struct B;"),
        ("b/c.rs", "use super::B; pub struct C;"),
    ];
    assert!(complaints(&room).is_empty());
    assert_eq!(graph(&room).circles().len(), 1);
    let siblings =
        [root, ("a.rs", "use crate::b::B; pub struct A;"), ("b.rs", "use crate::a::A; pub struct B;")];
    assert_eq!(complaints(&siblings).len(), 1);
    assert!(complaints(&siblings)[0].contains("p/src/a.rs -> p/src/b.rs: B"), "{:?}", complaints(&siblings));
}

#[test]
fn a_circle_with_a_grandchild_or_the_root_is_no_room() {
    let grandchild = [
        ("lib.rs", "mod b;"),
        ("b.rs", "mod c; pub struct B; use c::d::D;"),
        ("b/c.rs", "pub mod d;"),
        ("b/c/d.rs", "pub struct D; use crate::b::B;"),
    ];
    assert_eq!(graph(&grandchild).circle_complaints().len(), 1);
    let with_root = [("lib.rs", "mod b; pub struct A; use b::B;"), ("b.rs", "use crate::A; pub struct B;")];
    assert_eq!(graph(&with_root).circle_complaints().len(), 1);
}

#[test]
fn imports_through_the_roots_face_are_found() {
    let faces = |a: &str| {
        let root = "mod a; pub mod b; pub use b::B; pub use other::D; pub struct Own;";
        graph(&[("lib.rs", root), ("a.rs", a), ("b.rs", "pub struct B;")]).face_complaints().len()
    };
    assert_eq!(faces("use crate::B;"), 1);
    assert_eq!(faces("use super::D;"), 1);
    assert_eq!(faces("fn f() { crate::B::new() } fn g(b: crate::B) {}"), 2);
    assert_eq!(faces("use crate::{Own, b::B}; fn f() { crate::b::g() }"), 0);
}

#[test]
fn types_in_many_files_are_found() {
    let complaints = |visibility: &str| {
        let a = format!("mod x; mod y; mod z; {visibility} struct A; impl A {{}} impl Clone for A {{}}");
        let more = "use super::A; impl A { fn f() {} }";
        let files =
            [("lib.rs", "mod a;"), ("a.rs", &a), ("a/x.rs", more), ("a/y.rs", more), ("a/z.rs", more)];
        graph(&files).implementation_complaints(3)
    };
    assert_eq!(complaints("pub").len(), 1, "{:?}", complaints("pub"));
    assert!(complaints("pub(crate)").is_empty());
}

#[test]
fn arrows_that_leave_their_layers_order_are_found() {
    let layers =
        Layers { package: "p", layers: &[&["base"], &["data"], &["data/owner", "data/taker"], &["top"]] };
    let complaints = |from: &str, import: &str| {
        let modules = "mod base; mod data; mod top; mod stray;";
        let mut files = vec![
            ("lib.rs", modules),
            ("base.rs", "pub struct Base;"),
            ("data/mod.rs", "pub mod owner; pub mod taker; pub use owner::Owner; pub struct Data;"),
            ("data/owner.rs", "pub struct Owner;"),
            ("data/taker.rs", "pub struct Taker;"),
            ("top/mod.rs", "pub struct Top;"),
        ];
        let at = files.iter().position(|(path, _)| *path == from).unwrap();
        let code = format!("{} {import}", files[at].1);
        files[at].1 = &code;
        layers.complaints(&graph(&files))
    };
    assert!(complaints("top/mod.rs", "use crate::{base::Base, data::Owner, data::taker::Taker};").is_empty());
    assert!(complaints("data/owner.rs", "use crate::data::Data;").is_empty(), "a folder below its parts");
    assert_eq!(complaints("base.rs", "use crate::data::Data;").len(), 1, "up");
    assert_eq!(complaints("data/mod.rs", "fn f() { crate::top::f() }").len(), 1, "up");
    assert_eq!(complaints("data/taker.rs", "use crate::data::Owner;").len(), 1, "aside, through a face");
    let stray = [("lib.rs", "mod stray;"), ("stray.rs", "")];
    assert!(layers.complaints(&graph(&stray))[0].contains("p/src/stray.rs: stands in no layer"));
}
