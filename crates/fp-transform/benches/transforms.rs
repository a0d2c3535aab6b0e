//! What derivations cost, as ratios of interleaved rounds in one process.
//!
//! `cargo bench -p flexpath-transform --features wasm`: each ratio is of medians. A plan runs again and again, as for
//! steps, so the memory of its results is as warm as that of the baseline. `-- wasm` leaves out all but deployed code.

#[path = "../../../benches/turns/mod.rs"]
mod turns;

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use fp_transform::{Array, ArrayType, Block, Compression, Derivation, decompress};
use fp_types::record::{ByteOrder, ElementForm};
use fp_types::{Dtype, MemoryOrder, Region, Shape};
use turns::{Group, Medians, in_turns};

criterion_group!(benches, transforms);
criterion_main!(benches);

fn transforms(criterion: &mut Criterion) {
    let mut group = turns::group(criterion, "transforms");
    let line = Shape::new([2 << 20]).expect("a shape");
    derivations(&mut group, &line);
    for compression in [Compression::Lz4, Compression::Pco, Compression::Bounded { max_error: 1e-4 }] {
        compressed(&mut group, compression, &native(&line));
    }
    deployed(&mut group, &native(&line));
    group.finish();
}

fn derivations(group: &mut Group<'_>, line: &Shape) {
    let square = Shape::new([4096, 4096]).expect("a shape");
    derivation(group, "f64 to f32, 16 MiB", "T | cast(f32)", &[native(line)], 0.5);
    derivation(group, "f64 bytes swapped to f32, 16 MiB", "T | cast(f32)", &[swapped(line)], 0.0);
    derivation(group, "f64 bytes swapped, 16 MiB", "T | cast(f64)", &[swapped(line)], 0.5);
    derivation(group, "transposed, 4096 x 4096 f64", "T | order(column)", &[native(&square)], 0.25);
    derivation(group, "every second one, 4096 x 4096 f64", "T | stride(2, 2)", &[native(&square)], 0.0);
    derivation(group, "means of 4 x 4, 4096 x 4096 f64", "T | average(4, 4)", &[native(&square)], 0.0);
    let three = [native(line), native(line), native(line)];
    let short = Shape::new([128 << 10]).expect("a shape");
    let few = [native(&short), native(&short), native(&short)];
    let root = "x, y, z | compute(sqrt(x*x+y*y+z*z))";
    derivation(group, "sqrt(x*x+y*y+z*z), 3 x 1 MiB", root, &few, 0.0);
    derivation(group, "sqrt(x*x+y*y+z*z), 3 x 16 MiB", root, &three, 0.0);
    derivation(group, "magnitude, 3 x 16 MiB", "x, y, z | magnitude", &three, 0.0);
    for operation in ["min", "sum", "variance", "histogram(0, 1, 64)", "points(> 0.99)"] {
        let name = format!("{operation}, 16 MiB");
        derivation(group, &name, &format!("T | {operation}"), &[native(line)], 0.0);
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
fn derivation(group: &mut Group<'_>, name: &str, text: &str, inputs: &[Array], wanted: f64) {
    let derivation: Derivation = text.parse().expect("a derivation");
    let types: Vec<ArrayType> = inputs.iter().map(Array::array_type).collect();
    let plan = derivation.plan(&types).expect("a plan");
    let source: Vec<&[u8]> = inputs.iter().map(|array| array.blocks()[0].bytes()).collect();
    let ours = || {
        black_box(plan.run(black_box(inputs)).expect("a result"));
    };
    let Some(medians) = in_turns(group, name, memcpy(&source), ours) else { return };
    let (ratio, Medians { baseline, ours }) = (medians.speed(), medians);
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

/// How short numbers become, how long that takes, and how long the way back.
fn compressed(group: &mut Group<'_>, compression: Compression, array: &Array) {
    let bytes = array.blocks()[0].bytes();
    let compressed = compression.compress(Dtype::F64, bytes).expect("compressed");
    let make = || {
        black_box(compression.compress(Dtype::F64, black_box(bytes)).expect("compressed"));
    };
    let read = || {
        black_box(decompress(Dtype::F64, black_box(&compressed), bytes.len()).expect("decompressed"));
    };
    let name = format!("{compression}, 16 MiB");
    let Some(Medians { baseline: made, ours: read }) = in_turns(group, &format!("{name}, back"), make, read)
    else {
        return;
    };
    let share = compressed.len() as f64 / bytes.len() as f64;
    println!("{name:<40} {made:>9.2?}   to {share:.3} of its bytes, back in {read:.2?}");
}

/// A deployed sum of squares against a native one, and the start of a module that is cached.
#[cfg(feature = "wasm")]
fn deployed(group: &mut Group<'_>, array: &Array) {
    use fp_transform::{DeployLimits, Runtime};
    let runtime = Runtime::new(DeployLimits::default()).expect("a runtime");
    let module = wat::parse_str(include_str!("../guest/sum_of_squares.wat")).expect("a module");
    let begun = std::time::Instant::now();
    runtime.load(&module).expect("a module");
    println!("{:<40} {:>9.2?}", "wasm: a module loaded for the first time", begun.elapsed());
    let module = compiled().unwrap_or(module);
    floors(group, array.blocks()[0].bytes());
    start(group, &runtime, &module, ", first");
    sums(group, &runtime, &module, &array.blocks()[0], "");
    start(group, &runtime, &module, "");
    let fresh = Runtime::new(DeployLimits::default().with_kept_bytes(0)).expect("a runtime");
    sums(group, &fresh, &module, &array.blocks()[0], ", nothing kept");
    start(group, &fresh, &module, ", nothing kept");
}

/// What a call cannot do without: its input copied, and as much memory set to zero.
#[cfg(feature = "wasm")]
fn floors(group: &mut Group<'_>, bytes: &[u8]) {
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
    let name = "wasm: 16 MiB copied, then set to zero";
    if let Some(Medians { baseline: copy, ours: zero }) = in_turns(group, name, copy, zero) {
        println!("{:<40} {copy:>9.2?}   what copying its input takes", "wasm: sum of squares, 16 MiB");
        println!("{:<40} {zero:>9.2?}   what setting as much to zero takes", "wasm: sum of squares, 16 MiB");
    }
}

/// Each block in a memory as if nobody had used it, as streams do.
#[cfg(feature = "wasm")]
fn sums(group: &mut Group<'_>, runtime: &fp_transform::Runtime, module: &[u8], block: &Block, how: &str) {
    let deployed = runtime.load(module).expect("a module");
    let bytes = block.bytes();
    type Sum = fn(&[u8]) -> f64;
    let natives: [(&str, Sum); 2] = [("sums at once", sixteen_sums), ("one sum", one_sum)];
    for (native, sum) in natives {
        let name = format!("wasm: sum of squares, 16 MiB{how}");
        let baseline = || {
            black_box(sum(black_box(bytes)));
        };
        let ours = || {
            black_box(deployed.run(std::slice::from_ref(black_box(block))).expect("a result"));
        };
        let medians = in_turns(group, &format!("{name}, by {native}"), baseline, ours);
        let Some(Medians { baseline, ours }) = medians else { continue };
        let ratio = ours.as_secs_f64() / baseline.as_secs_f64();
        let verdict = if ratio <= 3.0 { "met" } else { "MISSED" };
        println!(
            "{name:<40} {ours:>9.2?}   {ratio:>6.3} of native, {native} ({baseline:.2?}), wanted at most 3: {verdict}"
        );
    }
}

/// One element, before blocks of 16 MiB or after them.
#[cfg(feature = "wasm")]
fn start(group: &mut Group<'_>, runtime: &fp_transform::Runtime, module: &[u8], how: &str) {
    let bytes = 1f64.to_ne_bytes().to_vec();
    let one = Block::new(Region::whole(&Shape::scalar()), Dtype::F64, MemoryOrder::RowMajor, bytes)
        .expect("a block");
    let start = || {
        let cached = runtime.load(black_box(module)).expect("a module");
        black_box(cached.run(std::slice::from_ref(&one)).expect("a result"));
    };
    let name = format!("wasm: a cached module, one element{how}");
    let Some(Medians { ours: start, .. }) = in_turns(group, &name, || (), start) else { return };
    let verdict = if start <= std::time::Duration::from_micros(100) { "met" } else { "MISSED" };
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
fn deployed(_: &mut Group<'_>, _: &Array) {
    println!("wasm: not measured, as it was built without the feature");
}
