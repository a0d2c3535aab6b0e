//! What derivations cost, as ratios of interleaved rounds in one process.
//!
//! `cargo bench -p flexpath-transform --features wasm`: each line is a median. A plan runs
//! again and again, as for steps, so the memory of its results is as warm as that of the baseline. `-- --only wasm` leaves out
//! all but deployed code.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fp_transform::{Array, ArrayType, Block, Compression, Derivation, decompress};
use fp_types::record::{ByteOrder, ElementForm};
use fp_types::{Dtype, MemoryOrder, Region, Shape};

const ROUNDS: usize = 15;

fn main() {
    let line = Shape::new([2 << 20]).expect("a shape");
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().position(|argument| argument == "--only").map(|at| arguments.get(at + 1)) {
        None => derivations(&line),
        Some(only) => assert_eq!(only.map(String::as_str), Some("wasm"), "what --only is to measure"),
    }
    deployed(&native(&line));
}

fn derivations(line: &Shape) {
    let square = Shape::new([4096, 4096]).expect("a shape");
    derivation("f64 to f32, 16 MiB", "T | cast(f32)", &[native(line)], 0.5);
    derivation("f64 bytes swapped to f32, 16 MiB", "T | cast(f32)", &[swapped(line)], 0.0);
    derivation("f64 bytes swapped, 16 MiB", "T | cast(f64)", &[swapped(line)], 0.5);
    derivation("transposed, 4096 x 4096 f64", "T | order(column)", &[native(&square)], 0.25);
    derivation("every second one, 4096 x 4096 f64", "T | stride(2, 2)", &[native(&square)], 0.0);
    derivation("means of 4 x 4, 4096 x 4096 f64", "T | average(4, 4)", &[native(&square)], 0.0);
    let three = [native(line), native(line), native(line)];
    let short = Shape::new([128 << 10]).expect("a shape");
    let few = [native(&short), native(&short), native(&short)];
    derivation("sqrt(x*x+y*y+z*z), 3 x 1 MiB", "x, y, z | compute(sqrt(x*x+y*y+z*z))", &few, 0.0);
    derivation("sqrt(x*x+y*y+z*z), 3 x 16 MiB", "x, y, z | compute(sqrt(x*x+y*y+z*z))", &three, 0.0);
    derivation("magnitude, 3 x 16 MiB", "x, y, z | magnitude", &three, 0.0);
    for operation in ["min", "sum", "variance", "histogram(0, 1, 64)", "points(> 0.99)"] {
        derivation(&format!("{operation}, 16 MiB"), &format!("T | {operation}"), &[native(line)], 0.0);
    }
    for compression in [Compression::Lz4, Compression::Pco, Compression::Bounded { max_error: 1e-4 }] {
        compressed(compression, &native(line));
    }
}

/// Numbers between 0 and 1 that run smoothly.
fn native(shape: &Shape) -> Array {
    let value = |at: u64| ((at as f64) * 1e-5).sin() * 0.5 + 0.5;
    let bytes: Vec<u8> = (0..shape.element_count()).flat_map(|at| value(at).to_ne_bytes()).collect();
    Array::whole(Dtype::F64, *shape, MemoryOrder::RowMajor, bytes).expect("an array")
}

/// The same in the other byte order.
fn swapped(shape: &Shape) -> Array {
    let mut bytes = native(shape).blocks()[0].bytes().to_vec();
    bytes.chunks_exact_mut(8).for_each(<[u8]>::reverse);
    let byte_order = if ByteOrder::NATIVE == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
    let form = ElementForm { dtype: Dtype::F64, byte_order };
    let block = Block::shared(Region::whole(shape), form, MemoryOrder::RowMajor, Arc::new(bytes));
    Array::new(Dtype::F64, *shape, vec![block.expect("a block")]).expect("an array")
}

/// A derivation against `memcpy` of all that goes in.
fn derivation(name: &str, text: &str, inputs: &[Array], wanted: f64) {
    let derivation: Derivation = text.parse().expect("a derivation");
    let types: Vec<ArrayType> = inputs.iter().map(Array::array_type).collect();
    let plan = derivation.plan(&types).expect("a plan");
    let source: Vec<&[u8]> = inputs.iter().map(|array| array.blocks()[0].bytes()).collect();
    let ours = || {
        black_box(plan.run(black_box(inputs)).expect("a result"));
    };
    let (baseline, ours) = interleaved(memcpy(&source), ours);
    let ratio = baseline.as_secs_f64() / ours.as_secs_f64();
    let verdict = if ratio >= wanted { "met" } else { "MISSED" };
    println!("{name:<40} {ours:>9.2?}   {ratio:>6.3} of memcpy ({baseline:.2?}), wanted {wanted}: {verdict}");
}

fn memcpy(source: &[&[u8]]) -> impl FnMut() {
    let source: Vec<Vec<u8>> = source.iter().map(|bytes| bytes.to_vec()).collect();
    let mut copied = source.clone();
    move || {
        copied.iter_mut().zip(&source).for_each(|(to, from)| to.copy_from_slice(black_box(from)));
        black_box(&mut copied);
    }
}

fn compressed(compression: Compression, array: &Array) {
    let bytes = array.blocks()[0].bytes();
    let compressed = compression.compress(Dtype::F64, bytes).expect("compressed");
    let make = || {
        black_box(compression.compress(Dtype::F64, black_box(bytes)).expect("compressed"));
    };
    let read = || {
        black_box(decompress(Dtype::F64, black_box(&compressed), bytes.len()).expect("decompressed"));
    };
    let (made, read) = interleaved(make, read);
    let share = compressed.len() as f64 / bytes.len() as f64;
    println!(
        "{:<40} {made:>9.2?}   to {share:.3} of its bytes, back in {read:.2?}",
        format!("{compression}, 16 MiB")
    );
}

/// A deployed sum of squares against a native one, and the start of a module that is cached.
#[cfg(feature = "wasm")]
fn deployed(array: &Array) {
    use fp_transform::{DeployLimits, Runtime};
    let runtime = Runtime::new(DeployLimits::default()).expect("a runtime");
    let module = wat::parse_str(include_str!("../guest/sum_of_squares.wat")).expect("a module");
    let begun = Instant::now();
    runtime.load(&module).expect("a module");
    println!("{:<40} {:>9.2?}", "wasm: a module loaded for the first time", begun.elapsed());
    let module = compiled().unwrap_or(module);
    let bytes = array.blocks()[0].bytes();
    let mut copied = vec![0u8; bytes.len()];
    let mut zeroed = vec![0u8; bytes.len()];
    let copy = || {
        copied.copy_from_slice(black_box(bytes));
        black_box(&mut copied);
    };
    let zero = || {
        zeroed.fill(0);
        black_box(&mut zeroed);
    };
    let (copy, zero) = interleaved(copy, zero);
    println!("{:<40} {copy:>9.2?}   what copying its input takes", "wasm: sum of squares, 16 MiB");
    println!("{:<40} {zero:>9.2?}   what setting as much to zero takes", "wasm: sum of squares, 16 MiB");
    start(&runtime, &module, ", first");
    sums(&runtime, &module, &array.blocks()[0], "");
    start(&runtime, &module, "");
    let fresh = Runtime::new(DeployLimits::default().with_kept_bytes(0)).expect("a runtime");
    sums(&fresh, &module, &array.blocks()[0], ", nothing kept");
    start(&fresh, &module, ", nothing kept");
}

/// Each block in a memory as if nobody had used it, as streams do.
#[cfg(feature = "wasm")]
fn sums(runtime: &fp_transform::Runtime, module: &[u8], block: &Block, how: &str) {
    let deployed = runtime.load(module).expect("a module");
    let bytes = block.bytes();
    let one = || {
        black_box(one_sum(black_box(bytes)));
    };
    let sixteen = || {
        black_box(sixteen_sums(black_box(bytes)));
    };
    let mut ours = || {
        black_box(deployed.run(std::slice::from_ref(black_box(block))).expect("a result"));
    };
    for (name, (baseline, ours)) in
        [("sums at once", interleaved(sixteen, &mut ours)), ("one sum", interleaved(one, &mut ours))]
    {
        let ratio = ours.as_secs_f64() / baseline.as_secs_f64();
        let verdict = if ratio <= 3.0 { "met" } else { "MISSED" };
        println!(
            "{:<40} {ours:>9.2?}   {ratio:>6.3} of native, {name} ({baseline:.2?}), wanted at most 3: {verdict}",
            format!("wasm: sum of squares, 16 MiB{how}")
        );
    }
}

/// One element, before blocks of 16 MiB or after them.
#[cfg(feature = "wasm")]
fn start(runtime: &fp_transform::Runtime, module: &[u8], how: &str) {
    let bytes = 1f64.to_ne_bytes().to_vec();
    let one = Block::new(Region::whole(&Shape::scalar()), Dtype::F64, MemoryOrder::RowMajor, bytes)
        .expect("a block");
    let start = || {
        let cached = runtime.load(black_box(module)).expect("a module");
        black_box(cached.run(std::slice::from_ref(&one)).expect("a result"));
    };
    let (_, start) = interleaved(|| (), start);
    let verdict = if start <= Duration::from_micros(100) { "met" } else { "MISSED" };
    let name = format!("wasm: a cached module, one element{how}");
    println!("{name:<40} {start:>9.2?}   wanted at most 100 us: {verdict}");
}

/// Natively, one after the other: as one would write it down.
#[cfg(feature = "wasm")]
fn one_sum(bytes: &[u8]) -> f64 {
    let (elements, _) = bytes.as_chunks::<8>();
    elements.iter().map(|bytes| f64::from_ne_bytes(*bytes)).fold(0.0, |sum, x| sum + x * x)
}

/// Natively, sixteen at once: as the guest in C does.
#[cfg(feature = "wasm")]
fn sixteen_sums(bytes: &[u8]) -> f64 {
    let (elements, _) = bytes.as_chunks::<{ 16 * 8 }>();
    let mut sums = [0.0; 16];
    for bytes in elements {
        let (numbers, _) = bytes.as_chunks::<8>();
        for (sum, bytes) in sums.iter_mut().zip(numbers) {
            let x = f64::from_ne_bytes(*bytes);
            *sum += x * x;
        }
    }
    sums.iter().sum()
}

/// The same guest written in C, as most would be, if there is a clang.
#[cfg(feature = "wasm")]
fn compiled() -> Option<Vec<u8>> {
    let output = std::env::temp_dir().join(format!("flexpath-bench-{}.wasm", std::process::id()));
    let mut clang = std::process::Command::new("clang");
    clang.args(["--target=wasm32", "-O2", "-msimd128", "-nostdlib", "-Wl,--no-entry", "-o"]).arg(&output);
    let done = clang.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/guest/sum_of_squares.c")).status();
    let module = done.ok().filter(|status| status.success()).and_then(|_| std::fs::read(&output).ok());
    let _ = std::fs::remove_file(&output);
    println!("wasm: the guest is {}", if module.is_some() { "written in C" } else { "written by hand" });
    module
}

#[cfg(not(feature = "wasm"))]
fn deployed(_: &Array) {
    println!("wasm: not measured, as it was built without the feature");
}

/// The medians of two things done in turn.
fn interleaved(mut baseline: impl FnMut(), mut ours: impl FnMut()) -> (Duration, Duration) {
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        times.0.push(timed(&mut baseline));
        times.1.push(timed(&mut ours));
    }
    (median(times.0), median(times.1))
}

fn timed(work: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
