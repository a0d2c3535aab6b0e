//! The memory of deployed code: what a call finds in it, how much it may have of it, and how much of it is kept.

use std::sync::Arc;
use std::time::Duration;

use fp_transform::{Block, DeployError, DeployLimits, Deployed, Runtime};
use fp_types::{Dtype, MemoryOrder, Region};

/// As much as the guests here use at most.
const USED_BYTES: usize = 2 << 20;

fn limits(kept_bytes: usize) -> DeployLimits {
    let limits = DeployLimits::default().with_memory_bytes(2 * USED_BYTES).with_kept_bytes(kept_bytes);
    limits.with_fuel(100_000_000).with_time(Duration::from_secs(60))
}

fn load(runtime: &Runtime, source: &str) -> Arc<Deployed> {
    runtime.load(&wat::parse_str(source).expect("WebAssembly text")).expect("a module")
}

fn input() -> [Block; 1] {
    let region = Region::new([0], [1]).unwrap();
    [Block::new(region, Dtype::F64, MemoryOrder::RowMajor, 0.5f64.to_ne_bytes().to_vec()).unwrap()]
}

fn run(module: &Deployed) -> Result<(), DeployError> {
    module.run(&input()).map(|_| ())
}

/// A guest that runs `reserve` before it has its input, for which there is room in its third page. It fails with the
/// number that is left in `$fault`.
fn guest(pages: usize, fields: &str, reserve: &str) -> String {
    let scalar = Dtype::U64.as_u8();
    format!(
        r#"(module (memory (export "memory") {pages}) {fields}
            (global $fault (mut i32) (i32.const 0))
            (func $fault_if (param i32 i32) (if (local.get 0) (then (global.set $fault (local.get 1)))))
            (func $is_marked (result i32) (local $at i32) (local $found i64)
                (loop $next
                    (local.set $found (i64.or (local.get $found) (i64.load (local.get $at))))
                    (local.set $at (i32.add (local.get $at) (i32.const 8)))
                    (br_if $next (i32.lt_u (local.get $at) (i32.mul (memory.size) (i32.const 65536)))))
                (i64.ne (local.get $found) (i64.const 0)))
            (func (export "flexpath_reserve_1") (param i32) (result i32) {reserve} (i32.const 131072))
            (func (export "flexpath_transform_1") (param i32) (param i32) (param $output i32) (result i32)
                (i32.store offset=4 (local.get $output) (i32.const 8))
                (i32.store offset=8 (local.get $output) (i32.const {scalar}))
                (global.get $fault)))"#
    )
}

/// Fails if anything is not as the module says it is at first. Then it leaves marks wherever one can be left. That is
/// all over its memory and what it grew by, in a global, a table and the segments that it drops.
fn marking() -> String {
    let fields = r#"(table $table 3 20 funcref) (elem $functions func $f) (func $f) (data $later "later")
        (data $first (i32.const 70000) "at first") (global $global (mut i64) (i64.const 7))"#;
    let first = u64::from_le_bytes(*b"at first");
    let reserve = format!(
        "(call $fault_if (i32.ne (memory.size) (i32.const 4)) (i32.const 1))
        (call $fault_if (i64.ne (i64.load (i32.const 70000)) (i64.const {first})) (i32.const 2))
        (i64.store (i32.const 70000) (i64.const 0))
        (call $fault_if (call $is_marked) (i32.const 3))
        (call $fault_if (i64.ne (global.get $global) (i64.const 7)) (i32.const 4))
        (call $fault_if (i32.ne (table.size $table) (i32.const 3)) (i32.const 5))
        (call $fault_if (i32.eqz (ref.is_null (table.get $table (i32.const 2)))) (i32.const 6))
        (drop (memory.grow (i32.const {})))
        (call $fault_if (call $is_marked) (i32.const 7))
        (call $fault_if (i32.ne (table.grow $table (ref.null func) (i32.const 17)) (i32.const 3)) (i32.const 8))
        (call $fault_if (i32.eqz (ref.is_null (table.get $table (i32.const 19)))) (i32.const 9))
        (table.init $table $functions (i32.const 2) (i32.const 0) (i32.const 1))
        (table.fill $table (i32.const 0) (ref.func $f) (i32.const 20))
        (memory.init $later (i32.const 0) (i32.const 0) (i32.const 5))
        (memory.fill (i32.const 0) (i32.const 0xab) (i32.const {USED_BYTES}))
        (global.set $global (i64.const 8)) (elem.drop $functions) (data.drop $later)",
        (USED_BYTES >> 16) - 4
    );
    guest(4, fields, &reserve)
}

/// Fails if it finds a mark, and leaves some; with another size and other contents at first.
fn other() -> String {
    let reserve = "(call $fault_if (i32.ne (memory.size) (i32.const 3)) (i32.const 1))
        (call $fault_if (i32.ne (i32.load8_u (i32.const 5)) (i32.const 33)) (i32.const 2))
        (i32.store8 (i32.const 5) (i32.const 0))
        (call $fault_if (call $is_marked) (i32.const 3))
        (drop (memory.grow (i32.const 20)))
        (call $fault_if (call $is_marked) (i32.const 4))
        (memory.fill (i32.const 0) (i32.const 0xcd) (i32.const 1500000))";
    guest(3, r#"(data (i32.const 5) "!")"#, reserve)
}

#[test]
fn no_call_finds_marks_of_another_however_much_is_kept() {
    for kept_bytes in [0, 1, 64 << 10, 200 << 10, 1 << 20, USED_BYTES, 1 << 30] {
        let runtime = Runtime::new(limits(kept_bytes)).unwrap();
        let (marking, other) = (load(&runtime, &marking()), load(&runtime, &other()));
        for round in 0..4 {
            for module in [&marking, &marking, &other, &marking, &other] {
                assert_eq!(run(module), Ok(()), "{kept_bytes} bytes are kept, round {round}");
            }
        }
    }
}

#[test]
fn more_callers_than_pooled_memories_are_all_served() {
    for kept_bytes in [0, 1 << 20] {
        let runtime = Runtime::new(limits(kept_bytes)).unwrap();
        let (marking, other) = (load(&runtime, &marking()), load(&runtime, &other()));
        std::thread::scope(|scope| {
            for number in 0..12 {
                let module = if number % 2 == 0 { &marking } else { &other };
                scope.spawn(move || (0..8).for_each(|_| assert_eq!(run(module), Ok(()))));
            }
        });
    }
}

#[test]
fn a_call_that_fails_leaves_nothing_either() {
    let runtime = Runtime::new(limits(1 << 20)).unwrap();
    let marking = load(&runtime, &marking());
    let fill = "(memory.fill (i32.const 0) (i32.const 1) (i32.const 196608))";
    let forever = load(&runtime, &guest(3, "", &format!("{fill} (loop $again (br $again))")));
    let traps = load(&runtime, &guest(3, "", &format!("{fill} unreachable")));
    let grow = "(loop $again (drop (memory.grow (i32.const 1))) (br $again))";
    let grows = load(&runtime, &guest(3, "", &format!("{fill} {grow}")));
    for _ in 0..3 {
        assert_eq!(run(&forever), Err(DeployError::Fuel { limit: 100_000_000 }));
        assert_eq!(run(&marking), Ok(()));
        assert!(matches!(run(&traps), Err(DeployError::Trapped { .. })));
        assert_eq!(run(&marking), Ok(()));
        assert_eq!(run(&grows), Err(DeployError::Memory { limit_bytes: 2 * USED_BYTES }));
        assert_eq!(run(&marking), Ok(()));
    }
}

#[test]
fn limits_hold_whether_memories_are_pooled_or_not() {
    let tables = |count: usize, elements: usize| format!("(table {elements} funcref)").repeat(count);
    for kept_bytes in [0, 1 << 20] {
        let runtime = Runtime::new(limits(kept_bytes)).unwrap();
        let tried = |pages, fields: &str, reserve: &str| run(&load(&runtime, &guest(pages, fields, reserve)));
        let (memory, table) = (
            DeployError::Memory { limit_bytes: 2 * USED_BYTES },
            DeployError::Table { limit_elements: 128 << 10 },
        );
        assert_eq!(tried(64, "", ""), Ok(()), "as much as there is");
        assert_eq!(tried(65, "", ""), Err(memory.clone()));
        assert_eq!(tried(3, "", "(drop (memory.grow (i32.const 61)))"), Ok(()));
        assert_eq!(tried(3, "", "(drop (memory.grow (i32.const 62)))"), Err(memory));
        assert_eq!(tried(3, &tables(1, 128 << 10), ""), Ok(()));
        assert_eq!(tried(3, &tables(1, (128 << 10) + 1), ""), Err(table.clone()));
        assert_eq!(tried(3, &tables(9, 1000), ""), Ok(()), "more than the pool has, which are then fresh");
        let grow = |by: usize| format!("(drop (table.grow 0 (ref.null func) (i32.const {by})))");
        assert_eq!(tried(3, &tables(2, 1000), &grow((128 << 10) - 1000)), Ok(()));
        assert_eq!(tried(3, &tables(2, 1000), &grow((128 << 10) - 999)), Err(table));
    }
}

/// Runs a part of a test in a process of its own, under limits that `prepare` sets in a shell. In that process the
/// environment says which.
#[cfg(target_os = "linux")]
fn alone(test: &str, prepare: &str, part: impl FnOnce()) {
    if std::env::var_os("FLEXPATH_TEST_ALONE").is_some_and(|name| name == test) {
        return part();
    }
    let program = std::env::current_exe().unwrap();
    let script = format!(r#"{prepare} exec "$0" --exact memory::{test} --test-threads=1 --nocapture"#);
    let mut shell = std::process::Command::new("sh");
    let ran = shell.arg("-c").arg(script).arg(program).env("FLEXPATH_TEST_ALONE", test).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
}

/// A line of what the system says of this process, in bytes.
#[cfg(target_os = "linux")]
fn status(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kilobytes = line.unwrap().trim().strip_suffix(" kB").unwrap();
    kilobytes.parse::<usize>().unwrap() << 10
}

#[cfg(target_os = "linux")]
#[test]
fn no_more_stays_resident_than_was_said_and_nothing_of_it_at_the_end() {
    const MIB: usize = 1 << 20;
    alone("no_more_stays_resident_than_was_said_and_nothing_of_it_at_the_end", "", || {
        let fill = "(drop (memory.grow (i32.const 944))) (memory.fill (i32.const 0) (i32.const 1) (i32.const 67108864))";
        for kept in [0, 8 * MIB, 48 * MIB, 96 * MIB] {
            let runtime = Runtime::new(limits(kept).with_memory_bytes(128 * MIB)).unwrap();
            let module = load(&runtime, &guest(80, "", fill));
            let before = status("RssAnon");
            (0..3).for_each(|_| assert_eq!(run(&module), Ok(())));
            let resident = status("RssAnon").saturating_sub(before);
            let wanted = kept.min(64 * MIB);
            assert!(
                (wanted.saturating_sub(MIB)..wanted + 4 * MIB).contains(&resident),
                "{resident} of {kept}"
            );
            drop((runtime, module));
            // The thread that is the clock goes a moment later, and what is kept goes with it.
            let deadline = std::time::Instant::now() + Duration::from_secs(20);
            while status("RssAnon") > before + 2 * MIB {
                assert!(std::time::Instant::now() < deadline, "{} of {kept}", status("RssAnon") - before);
                std::thread::yield_now();
            }
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn where_address_space_is_rationed_memories_are_fresh_or_the_error_says_so() {
    // Two memories of the pool are more than the limit, one fresh one is less; on one core the pool has one.
    alone(
        "where_address_space_is_rationed_memories_are_fresh_or_the_error_says_so",
        "ulimit -v 1000000;",
        || {
            let limits = |memory_bytes| limits(1 << 20).with_memory_bytes(memory_bytes);
            let runtime = Runtime::new(limits(512 << 20)).unwrap();
            let module = load(&runtime, &marking());
            (0..3).for_each(|_| assert_eq!(run(&module), Ok(())));
            drop((runtime, module));
            let runtime = Runtime::new(limits(2 << 30)).unwrap();
            let refused = run(&load(&runtime, &marking()));
            assert!(
                matches!(&refused, Err(DeployError::Runtime { reason }) if !reason.is_empty()),
                "{refused:?}"
            );
        },
    );
}
