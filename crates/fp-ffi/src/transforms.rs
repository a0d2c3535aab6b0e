//! Transforms that are C functions: from records of one type to records of another, known in this process.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::builder::BuilderHandle;
use crate::external::Owed;
use crate::failure::{Failure, Outcome, Status, guard, returned};
use crate::handles::{Handle, find, hold, take};
use crate::options::{OptionsHandle, change, placed};
use crate::raw::{check_place, give, text};
use crate::record_set::RecordsHandle;
use crate::schema::{Built, SchemaHandle, built};
use fp_core::{
    Array, Cost, Native, NativeError, RegisterError, Shape, TransformOptions, Transforms as Core,
    record_array,
};
use std::ffi::{c_char, c_void};
use std::time::Duration;

/// Makes records of those that are given. It reads `given` by `flexpath_records_...` and says by
/// `flexpath_builder_resize` how many it makes. It sets their fields one by one, or all at once by
/// `flexpath_builder_set_structs`. Both handles are valid until it returns. Returns 0, or a number of its own for the
/// text of the failure.
pub type Transform =
    Option<extern "C" fn(context: *mut c_void, given: *const RecordsHandle, made: *mut BuilderHandle) -> i32>;

/// Transforms of this process, and the threads that run them.
pub struct TransformsHandle {
    pub(crate) core: Core,
}

impl Handle for TransformsHandle {
    const NAME: &'static str = "set of transforms";
}

struct Function {
    run: extern "C" fn(*mut c_void, *const RecordsHandle, *mut BuilderHandle) -> i32,
    context: Owed,
    from: Built,
    to: Built,
    is_one_by_one: bool,
}

/// Handles that are no more when the function has returned.
struct Lent {
    given: *mut RecordsHandle,
    made: *mut BuilderHandle,
}

impl Drop for Lent {
    fn drop(&mut self) {
        // C may have given them back itself.
        let _ = take(self.given);
        let _ = take(self.made);
    }
}

impl Function {
    fn call(&self, inputs: &[Array]) -> Result<Vec<Array>, NativeError> {
        let [array] = inputs else { return Err(format!("{} arrays instead of one", inputs.len()).into()) };
        let [block] = array.blocks() else {
            return Err(format!("{} blocks instead of one", array.blocks().len()).into());
        };
        let count = usize::try_from(array.shape().element_count())?;
        let made = BuilderHandle::of(&self.to, if self.is_one_by_one { count } else { 0 })?;
        let given = RecordsHandle::given(&self.from, count, block.payload().clone());
        let lent = Lent { given: hold(given), made: hold(made) };
        let builder = find(lent.made)?;
        match (self.run)(self.context.context(), lent.given, lent.made) {
            0 => {}
            number => return Err(returned(number).into()),
        }
        let (made, bytes) = builder.encode()?;
        let shape = match self.is_one_by_one {
            true if made != count => return Err(format!("{made} records of {count}, one of each").into()),
            true => *array.shape(),
            false => Shape::new([made as u64])?,
        };
        Ok(vec![record_array(shape, block.order(), bytes)?])
    }
}

/// Makes an empty set of transforms, to be freed by `flexpath_transforms_free`. Each call of a transform may take
/// `timeout_ms` milliseconds; 0 stands for 10,000. They run on two threads of the set. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_transforms_create(
    timeout_ms: u64,
    transforms: *mut *mut TransformsHandle,
) -> Status {
    guard(|| {
        check_place(transforms, "transforms")?;
        let limit = if timeout_ms == 0 { 10_000 } else { timeout_ms };
        let options = TransformOptions::default().with_limit(Duration::from_millis(limit));
        give(transforms, hold(TransformsHandle { core: Core::new(&options) }), "transforms")
    })
}

/// What C says of a transform.
struct Said {
    name: *const c_char,
    from: *const SchemaHandle,
    to: *const SchemaHandle,
    run: Transform,
    context: Owed,
    is_one_by_one: bool,
}

fn add(transforms: *mut TransformsHandle, said: Said) -> Status {
    guard(move || {
        let (found, name) = (find(transforms)?, text(said.name, "name")?);
        let (from, to, is_one_by_one) = (built(said.from)?, built(said.to)?, said.is_one_by_one);
        let run = said.run.ok_or_else(|| Failure::new(Status::BadPointer, "run is null"))?;
        let schemas = (from.schema.clone(), to.schema.clone());
        let function = Function { run, context: said.context, from, to, is_one_by_one };
        let native = Native::new(name, move |inputs: &[Array]| function.call(inputs));
        let native = native.with_schemas(&schemas.0, &schemas.1);
        let native = if is_one_by_one { native.one_by_one() } else { native };
        let native = if schemas.0 == schemas.1 { native.by_name_only() } else { native };
        found.core.register(native).map_err(Failure::misused)?;
        Ok(Status::Ok)
    })
}

/// Adds a transform from records of one type to records of another. `run` is called with `context`, on threads of
/// Flexpath, on several at one time. Records that are converted to the one type, or from the other, are transformed
/// too. `release(context)` is called once, whatever this returns, when the function will not be called any more; it may
/// be null. Neither may throw or longjmp. A call that takes too long is not waited for, and after two such calls the
/// transform is refused. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_transforms_add(
    transforms: *mut TransformsHandle,
    name: *const c_char,
    from: *const SchemaHandle,
    to: *const SchemaHandle,
    run: Option<
        extern "C" fn(context: *mut c_void, given: *const RecordsHandle, made: *mut BuilderHandle) -> i32,
    >,
    release: Option<extern "C" fn(context: *mut c_void)>,
    context: *mut c_void,
) -> Status {
    let context = Owed::new(release, context);
    add(transforms, Said { name, from, to, run, context, is_one_by_one: false })
}

/// As `flexpath_transforms_add`, of a function that makes one record of each that is given, in its place. Who asks for
/// a few has only these transformed. The builder has as many records from the start. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_transforms_add_each(
    transforms: *mut TransformsHandle,
    name: *const c_char,
    from: *const SchemaHandle,
    to: *const SchemaHandle,
    run: Option<
        extern "C" fn(context: *mut c_void, given: *const RecordsHandle, made: *mut BuilderHandle) -> i32,
    >,
    release: Option<extern "C" fn(context: *mut c_void)>,
    context: *mut c_void,
) -> Status {
    let context = Owed::new(release, context);
    add(transforms, Said { name, from, to, run, context, is_one_by_one: true })
}

/// Says something more of a transform that was added.
fn declare(
    transforms: *mut TransformsHandle,
    name: *const c_char,
    say: impl FnOnce(&Core, &str) -> Result<bool, RegisterError>,
) -> Outcome {
    let (found, name) = (find(transforms)?, text(name, "name")?);
    match say(&found.core, name).map_err(Failure::misused)? {
        true => Ok(Status::Ok),
        false => Err(Failure::misuse(format!("no transform is called {name:?}: it is to be added first"))),
    }
}

/// Says of a transform of `flexpath_transforms_add`: what it gives of blocks of records, one after the other, is what
/// it gives of all. Only such functions, and those of `flexpath_transforms_add_each`, can be asked for by name
/// (`flexpath_options_add_transformed`). Records are sent through block by block, as they are put, and no rank has all.
/// Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_transforms_set_per_block(
    transforms: *mut TransformsHandle,
    name: *const c_char,
) -> Status {
    guard(|| declare(transforms, name, |core, name| Ok(core.set_per_block(name))))
}

/// Says of a transform that it is asked for by name alone. The gets of records do not find it by its types, so several
/// may lead from one type to another. A transform from a type to itself is always asked for by name alone. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_transforms_set_by_name_only(
    transforms: *mut TransformsHandle,
    name: *const c_char,
) -> Status {
    guard(|| declare(transforms, name, |core, name| Ok(core.set_by_name_only(name))))
}

/// Says on which side a transform runs, one of `flexpath_placement`. With `FLEXPATH_PLACEMENT_SUBSCRIBER` a publisher
/// runs it for nobody, and who asks for that is told so. Otherwise who asks chooses, as it is where this is not called.
/// Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_transforms_set_placement(
    transforms: *mut TransformsHandle,
    name: *const c_char,
    placement: i32,
) -> Status {
    guard(|| {
        let placement = placed(placement)?;
        declare(transforms, name, |core, name| Ok(core.set_placement(name, placement)))
    })
}

/// Says what a transform is expected to cost: nanoseconds for each byte that goes in, and bytes that come out for each.
/// Where several ways lead from one type to another, the cheapest is taken. What was measured counts before what is
/// said here. Unless this is called, 1 and 1. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_transforms_set_cost(
    transforms: *mut TransformsHandle,
    name: *const c_char,
    nanos_per_byte: f64,
    output_ratio: f64,
) -> Status {
    guard(|| {
        let cost = Cost { nanos_per_byte, output_ratio };
        declare(transforms, name, |core, name| core.set_cost(name, cost))
    })
}

/// Says how many milliseconds each call of a transform may take, at least 1. Where this is not called, it may take as
/// many as `flexpath_transforms_create` was told. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_transforms_set_timeout(
    transforms: *mut TransformsHandle,
    name: *const c_char,
    timeout_ms: u64,
) -> Status {
    guard(|| {
        if timeout_ms == 0 {
            return Err(Failure::misuse("no call takes 0 milliseconds"));
        }
        let limit = Duration::from_millis(timeout_ms);
        declare(transforms, name, |core, name| Ok(core.set_limit(name, limit)))
    })
}

/// Gives transforms to whoever is opened with these options; those that are added later count from then on. A
/// subscriber has records become types that they have no conversion to: `flexpath_subscriber_of` and the gets of
/// records find the cheapest way through them. A publisher offers them by name to all its subscribers, which ask for
/// them by `flexpath_options_add_transformed`. A put of such records waits for the function, which must not use that
/// publisher. What fails is `FLEXPATH_STATUS_NOT_DERIVED` when records are got, and no put fails by it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_set_transforms(
    options: *mut OptionsHandle,
    transforms: *const TransformsHandle,
) -> Status {
    guard(|| {
        let found = find(transforms)?;
        change(options, |state| Ok(state.transforms(&found.core)))
    })
}

/// Frees a set of transforms; publishers and subscribers that have it keep it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_transforms_free(transforms: *mut TransformsHandle) -> Status {
    guard(|| take(transforms).map(|_| Status::Ok))
}
