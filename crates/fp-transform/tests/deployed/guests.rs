//! Deployed code: guests in C, Rust and WebAssembly's text that do what they should, and guests that do not.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use fp_transform::{
    Array, ArrayType, Block, DeployError, DeployLimits, Deployed, Derivation, ModuleHash, Modules,
    OutputFault, Runtime,
};
use fp_types::{Dtype, MemoryOrder, Region, Shape};

/// Small limits, so that guests which exceed them do so soon; time is generous where it is not what is tested.
fn limits() -> DeployLimits {
    let limits = DeployLimits::default().with_memory_bytes(4 << 20).with_fuel(50_000_000);
    limits.with_time(Duration::from_secs(20)).with_module_bytes(64 << 10).with_modules(4)
}

fn text(source: &str) -> Vec<u8> {
    wat::parse_str(source).expect("WebAssembly text")
}

/// A guest that makes room, with a transform of that body. Room for input starts at 1024.
fn guest(body: &str) -> Vec<u8> {
    text(&format!(
        r#"(module (memory (export "memory") 2)
            (func (export "flexpath_reserve_1") (param i32) (result i32) (i32.const 1024))
            (func (export "flexpath_transform_1") (param $inputs i32) (param i32) (param $output i32) (result i32)
                {body} (i32.const 0)))"#
    ))
}

/// Sets a word of the output's description.
fn set(offset: usize, value: i64) -> String {
    let size = if offset < 24 { "i32" } else { "i64" };
    format!("({size}.store offset={offset} (local.get $output) ({size}.const {value}))")
}

fn line(values: &[f64]) -> Block {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let region = Region::new([0], [values.len() as u64]).unwrap();
    Block::new(region, Dtype::F64, MemoryOrder::RowMajor, bytes).unwrap()
}

fn load(module: &[u8]) -> Arc<Deployed> {
    Runtime::new(limits()).unwrap().load(module).unwrap()
}

fn fails(module: &[u8]) -> DeployError {
    load(module).run(&[line(&[1.0, 2.0])]).expect_err("a guest that fails")
}

/// Compiles a guest in C, as its first comment says.
fn compiled(name: &str) -> Option<Vec<u8>> {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("guest.wasm");
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("guest").join(name);
    let mut clang = Command::new("clang");
    clang.args(["--target=wasm32", "-O2", "-nostdlib", "-Wall", "-Werror", "-Wl,--no-entry", "-o"]);
    let ran = clang.arg(&output).arg(&source).output();
    if ran.as_ref().is_ok_and(|ran| ran.status.success()) {
        return Some(std::fs::read(&output).unwrap());
    }
    let said =
        ran.map(|ran| String::from_utf8_lossy(&ran.stderr).into_owned()).unwrap_or_else(|e| e.to_string());
    let required = std::env::var_os("FLEXPATH_REQUIRE_CLANG").is_some();
    assert!(!required, "{name} is not compiled: {said}");
    eprintln!("not tested, as there is no clang with a linker for wasm32 here: {name}: {said}");
    None
}

/// Compiles a guest in Rust, as its first comment says; none where the compiler has no such target.
fn compiled_rust(name: &str) -> Option<Vec<u8>> {
    let target = "wasm32-unknown-unknown";
    let asked = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output().ok();
    let library = asked.map(|ran| PathBuf::from(String::from_utf8_lossy(&ran.stdout).trim()));
    if !library.is_some_and(|library| library.is_dir()) {
        let required = std::env::var_os("FLEXPATH_REQUIRE_WASM32").is_some();
        assert!(!required, "{name} is not compiled: run scripts/install-wasm32.sh");
        eprintln!("skipped: {name} needs `rustup target add {target}`");
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("guest.wasm");
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("guest").join(name);
    let mut rustc = Command::new("rustc");
    rustc.args([
        "--edition",
        "2024",
        "--target",
        target,
        "--crate-type",
        "cdylib",
        "-O",
        "-C",
        "panic=abort",
    ]);
    let ran = rustc.args(["-D", "warnings", "-o"]).arg(&output).arg(&source).output().unwrap();
    assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stderr));
    Some(std::fs::read(&output).unwrap())
}

fn sum(module: &[u8], values: &[f64]) -> f64 {
    let output = load(module).run(&[line(values)]).unwrap();
    assert_eq!((output.dtype(), output.region().ndims()), (Dtype::F64, 0));
    f64::from_ne_bytes(output.bytes().try_into().unwrap())
}

#[test]
fn sums_of_squares_in_text_in_c_and_in_rust() {
    let values: Vec<f64> = (0..100_001).map(f64::from).collect();
    let wanted: f64 = values.iter().map(|value| value * value).sum();
    let source = include_str!("../../guest/sum_of_squares.wat");
    assert_eq!(sum(&text(source), &values), wanted);
    assert_eq!(sum(&text(source), &[]), 0.0);
    let modules = [compiled("sum_of_squares.c"), compiled_rust("sum_of_squares.rs")];
    for module in modules.into_iter().flatten() {
        assert_eq!(sum(&module, &values), wanted);
        assert_eq!(sum(&module, &[]), 0.0);
        let other =
            Block::new(Region::new([0], [1]).unwrap(), Dtype::I8, MemoryOrder::RowMajor, vec![1]).unwrap();
        assert_eq!(load(&module).run(&[other]), Err(DeployError::Failed { number: 1 }));
    }
}

#[test]
fn a_guest_gives_parts_of_an_array() {
    let Some(module) = compiled("thin.c") else {
        return;
    };
    let block = |start: u64, count: u64| {
        let bytes: Vec<u8> = (start..start + count).flat_map(|at| (at as f32).to_ne_bytes()).collect();
        Block::new(Region::new([start], [count]).unwrap(), Dtype::F32, MemoryOrder::RowMajor, bytes).unwrap()
    };
    let blocks = vec![block(0, 3), block(3, 1), block(4, 6)];
    let array = Array::new(Dtype::F32, Shape::new([10]).unwrap(), blocks).unwrap();
    let to = ArrayType { dtype: Dtype::F32, shape: Shape::new([5]).unwrap() };
    let thinned = load(&module).run_arrays(std::slice::from_ref(&array), to).unwrap();
    let wanted: Vec<u8> = [0f32, 2.0, 4.0, 6.0, 8.0].iter().flat_map(|value| value.to_ne_bytes()).collect();
    assert_eq!(thinned.assemble(MemoryOrder::RowMajor).unwrap(), wanted);
    let short = ArrayType { shape: Shape::new([4]).unwrap(), ..to };
    assert!(matches!(load(&module).run_arrays(&[array], short), Err(DeployError::Input(_))));
}

#[test]
fn modules_are_checked_and_cached() {
    let runtime = Runtime::new(limits()).unwrap();
    let refused = |module: &[u8]| runtime.load(module).err().expect("refused");
    let imports = text(r#"(module (import "env" "read" (func)))"#);
    assert_eq!(refused(&imports), DeployError::Import { module: "env".into(), name: "read".into() });
    assert!(matches!(refused(b"\0asm no"), DeployError::Invalid { .. }));
    assert!(matches!(refused(b"(module)"), DeployError::Invalid { .. }), "text is no module");
    let none = refused(&text("(module)"));
    assert!(matches!(none, DeployError::Export { name: "flexpath_reserve_1", .. }), "{none}");
    let other = r#"(func (export "flexpath_reserve_1") (param i64) (result i32) (i32.const 0))"#;
    assert!(matches!(refused(&text(&format!("(module {other})"))), DeployError::Export { .. }));
    let large = vec![0; (64 << 10) + 1];
    let wanted = DeployError::TooLarge { len_bytes: large.len(), limit_bytes: 64 << 10 };
    assert_eq!(refused(&large), wanted);
    let first = runtime.load(&guest("")).unwrap();
    assert!(Arc::ptr_eq(&first, &runtime.load(&guest("")).unwrap()));
    assert!(Arc::ptr_eq(&first, &runtime.cached(first.hash()).unwrap()));
    for number in 0..3 {
        runtime.load(&guest(&set(0, number))).unwrap();
    }
    assert_eq!(refused(&guest(&set(0, 9))), DeployError::TooMany { limit: 4 });
    assert!(runtime.unload(first.hash()) && runtime.load(&guest(&set(0, 9))).is_ok());
}

/// A guest with more in its module.
fn guest_with(fields: &str) -> Vec<u8> {
    text(&format!(
        r#"(module (memory (export "memory") 2)
            (func (export "flexpath_reserve_1") (param i32) (result i32) (i32.const 1024))
            (func (export "flexpath_transform_1") (param i32 i32 i32) (result i32) (i32.const 1)) {fields})"#
    ))
}

#[test]
fn what_could_take_long_to_compile_is_refused_by_name_before_it_is_compiled() {
    let load = |limits: &DeployLimits, module: &[u8]| Runtime::new(limits.clone()).unwrap().load(module);
    let refused = |module: &[u8]| load(&DeployLimits::default(), module).err().expect("refused").to_string();
    let accepts = |limits: &DeployLimits, module: &[u8]| load(limits, module).is_ok();
    let limits = DeployLimits::default();

    let huge = guest_with(&format!("(func {})", "nop ".repeat(70_000)));
    assert_eq!(refused(&huge), "function 2 of the module has 70002 bytes: at most 65536 are compiled");
    assert!(accepts(&limits.clone().with_function_bytes(70_002), &huge), "its owner may allow it");

    let many = guest_with(&"(func)".repeat(10_000));
    assert_eq!(refused(&many), "the module has 10002 functions: at most 10000 are compiled");
    assert!(accepts(&limits.clone().with_functions(10_002), &many), "its owner may allow it");
    assert!(accepts(&limits, &guest_with(&"(func)".repeat(9_998))));

    let locals = guest_with(&format!("(func (local {}))", "i64 ".repeat(2_001)));
    assert_eq!(refused(&locals), "function 2 of the module has 2001 locals: at most 2000 are compiled");
    let loops = guest_with(&format!("(func {} {})", "loop ".repeat(8_001), "end ".repeat(8_001)));
    assert_eq!(
        refused(&loops),
        "function 2 of the module has 8001 blocks and branches: at most 8000 are compiled"
    );
    let table = guest_with(&format!("(func block (br_table {} (i32.const 0)) end)", "0 ".repeat(8_000)));
    assert!(refused(&table).starts_with("function 2 of the module has 8001 blocks and branches: "));
    let (local, nested) = ("i64 ".repeat(1_001), ("loop ".repeat(1_000), "end ".repeat(1_000)));
    let both = guest_with(&format!("(func (local {local}) {} {})", nested.0, nested.1));
    let said =
        "function 2 of the module has 1001000 meetings of locals and branches: at most 1000000 are compiled";
    assert_eq!(refused(&both), said);

    for (field, what) in [
        ("(global i32 (i32.const 0))", "globals"),
        ("(type (func))", "types"),
        ("(data \"\")", "segments of data"),
        ("(elem func)", "segments of elements"),
    ] {
        let said = refused(&guest_with(&field.repeat(4_100)));
        assert!(said.contains(&format!(" {what}: at most 4000 are compiled")), "{said}");
    }
    assert_eq!(
        refused(&guest_with(&"(table 0 funcref)".repeat(65))),
        "the module has 65 tables: at most 64 are compiled"
    );
}

/// What takes a compiler longest, as far as we know: many locals that are carried past many branches.
#[test]
fn what_takes_a_compiler_longest_is_bounded_for_all_functions_together() {
    let (locals, loops) = ("i64 ".repeat(500), 975);
    let body = "loop (local.set 3 (i64.add (local.get 3) (local.get 7))) (br_if 0 (i64.eqz (local.get 3))) ";
    let function = format!("(func (local {locals}) {} {})", body.repeat(loops), "end ".repeat(loops));
    let load = |functions| {
        Runtime::new(limits().with_module_bytes(1 << 20))
            .unwrap()
            .load(&guest_with(&function.repeat(functions)))
    };
    let refused = load(11).err().expect("refused").to_string();
    let said = "the module has 10725000 meetings of locals and branches: at most 10000000 are compiled";
    assert_eq!(refused, said);
    let begun = std::time::Instant::now();
    assert!(load(10).is_ok());
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn a_guest_that_loops_is_stopped_by_work_or_by_time() {
    let forever = guest("(loop $again (br $again))");
    assert_eq!(fails(&forever), DeployError::Fuel { limit: 50_000_000 });
    let limit = Duration::from_millis(20);
    let patient = limits().with_fuel(u64::MAX).with_time(limit);
    let module = Runtime::new(patient).unwrap().load(&forever).unwrap();
    assert_eq!(module.run(&[line(&[1.0])]), Err(DeployError::TimedOut { limit }));
    assert_eq!(
        module.run(&[line(&[1.0])]),
        Err(DeployError::TimedOut { limit }),
        "again: the clock ticks on"
    );
}

#[test]
fn a_guest_that_traps_harms_nobody() {
    let what = |module: &[u8]| {
        let error = fails(module);
        let DeployError::Trapped { what } = error else { panic!("{error}") };
        what
    };
    assert!(what(&guest("unreachable")).contains("unreachable"));
    assert!(what(&guest("(drop (i32.load (i32.const -4)))")).contains("out of bounds"));
    assert!(what(&guest("(drop (i32.div_s (i32.const 1) (i32.const 0)))")).contains("divide by zero"));
    let deep = text(
        r#"(module (memory (export "memory") 2) (func $f (call $f))
            (func (export "flexpath_reserve_1") (param i32) (result i32) (call $f) (i32.const 1024))
            (func (export "flexpath_transform_1") (param i32 i32 i32) (result i32) (i32.const 0)))"#,
    );
    assert!(what(&deep).contains("stack"));
    assert_eq!(sum(&text(include_str!("../../guest/sum_of_squares.wat")), &[3.0]), 9.0);
}

/// Remembers, in its memory and in a global, that it was called and with what. Gives what it remembers: its calls by
/// both counts, its pages, and the first element that it ever got.
fn remembering() -> Vec<u8> {
    text(
        r#"(module (memory (export "memory") 1) (global $calls (mut i64) (i64.const 0))
            (func (export "flexpath_reserve_1") (param $len i32) (result i32)
                (drop (memory.grow (i32.const 1)))
                (i32.const 1024))
            (func (export "flexpath_transform_1") (param $inputs i32) (param i32) (param $output i32) (result i32)
                (global.set $calls (i64.add (global.get $calls) (i64.const 1)))
                (i64.store (i32.const 0) (global.get $calls))
                (i64.store (i32.const 8) (i64.add (i64.load (i32.const 8)) (i64.const 1)))
                (i64.store (i32.const 16) (i64.extend_i32_u (memory.size)))
                (if (i64.eqz (i64.load (i32.const 24)))
                    (then (i64.store (i32.const 24) (i64.load (i32.load (local.get $inputs))))))
                (i32.store offset=4 (local.get $output) (i32.const 32))
                (i32.store offset=8 (local.get $output) (i32.const NUMBERS))
                (i32.store offset=16 (local.get $output) (i32.const 1))
                (i64.store offset=88 (local.get $output) (i64.const 4))
                (i32.const 0)))"#
            .replace("NUMBERS", &Dtype::U64.as_u8().to_string())
            .as_str(),
    )
}

#[test]
fn what_a_guest_leaves_is_found_by_no_later_block_and_no_other_subscription() {
    let module = remembering();
    let modules = Modules::new(limits());
    let hash = ModuleHash::of(&module);
    let derivation: Derivation = format!("T | module({hash}, u64, 4)").parse().unwrap();
    // As a stream runs it: blocks of a step, steps one after the other, subscriptions beside each other.
    let block = |start: u64| {
        let bytes = (start as f64 + 0.5).to_ne_bytes().to_vec();
        Block::new(Region::new([start], [1]).unwrap(), Dtype::F64, MemoryOrder::RowMajor, bytes).unwrap()
    };
    let step = Array::new(Dtype::F64, Shape::new([3]).unwrap(), (0..3).map(block).collect()).unwrap();
    let plan = || {
        let plan = derivation.plan(&[step.array_type()]).unwrap();
        plan.with_module(hash, modules.load(hash, &module).unwrap())
    };
    let first = |start: u64| (start as f64 + 0.5).to_bits();
    let wanted: Vec<u8> =
        (0..3).flat_map(|start| [1, 1, 2, first(start)]).flat_map(u64::to_ne_bytes).collect();
    for plan in [plan(), plan()] {
        for _ in 0..3 {
            let rows = plan.run(std::slice::from_ref(&step)).unwrap();
            assert_eq!(rows[0].assemble(MemoryOrder::RowMajor).unwrap(), wanted);
        }
    }
}

#[test]
fn a_guest_that_takes_memory_without_end_is_stopped() {
    let wanted = DeployError::Memory { limit_bytes: 4 << 20 };
    assert_eq!(fails(&guest("(loop $again (drop (memory.grow (i32.const 1))) (br $again))")), wanted);
    let at_once = text(
        r#"(module (memory (export "memory") 1000)
            (func (export "flexpath_reserve_1") (param i32) (result i32) (i32.const 1024))
            (func (export "flexpath_transform_1") (param i32 i32 i32) (result i32) (i32.const 0)))"#,
    );
    assert_eq!(fails(&at_once), wanted);
    let input = load(&text(include_str!("../../guest/sum_of_squares.wat"))).run(&[line(&vec![1.0; 1 << 20])]);
    assert_eq!(input, Err(wanted), "input counts");
}

#[test]
fn a_guest_without_room_gets_no_input() {
    let full = |address: i64| {
        let source = guest("").len();
        assert!(source > 0);
        text(&format!(
            r#"(module (memory (export "memory") 1)
                (func (export "flexpath_reserve_1") (param i32) (result i32) (i32.const {address}))
                (func (export "flexpath_transform_1") (param i32 i32 i32) (result i32) (i32.const 0)))"#
        ))
    };
    for address in [0, 65_500, -1] {
        assert!(matches!(fails(&full(address)), DeployError::NoRoom { .. }), "{address}");
    }
}

#[test]
fn outputs_that_make_no_sense_are_told_apart() {
    let fault = |fields: &[(usize, i64)]| {
        let body: String = fields.iter().map(|(offset, value)| set(*offset, *value)).collect();
        let error = fails(&guest(&body));
        let DeployError::Output(fault) = error else { panic!("{error}") };
        fault
    };
    let unknown = |what, number| OutputFault::Unknown { what, number };
    assert_eq!(fault(&[]), unknown("element type", 0), "nothing was filled in");
    assert_eq!(fault(&[(8, 99)]), unknown("element type", 99));
    assert_eq!(fault(&[(8, 12), (12, 2)]), unknown("memory order", 2));
    assert_eq!(fault(&[(8, 12), (16, 9)]), unknown("number of dimensions", 9));
    assert_eq!(fault(&[(8, 12), (16, -1)]), unknown("number of dimensions", u32::MAX));
    let size = fault(&[(8, 12), (16, 1), (4, 8), (88, 3)]);
    assert!(matches!(size, OutputFault::Size { len_bytes: 8, wanted_bytes: 24, .. }), "{size}");
    assert!(matches!(fault(&[(8, 12), (16, 1), (24, -1), (88, 2)]), OutputFault::Region { .. }));
    let outside = fault(&[(8, 12), (0, -8), (4, 8)]);
    assert_eq!(outside, OutputFault::Outside { data: (-8i32) as u32, len_bytes: 8 });
    assert!(matches!(fault(&[(8, 12), (0, 131_068), (4, 8)]), OutputFault::Outside { .. }));
}
