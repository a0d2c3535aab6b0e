//! The C library of LAMMPS behind safe calls. Unsafe code of this package is here and in `symbols.rs` only.
//!
//! Three things make it sound. An instance is used by one thread only: its type is neither `Send` nor `Sync`. Nothing
//! of LAMMPS's memory is kept: every list is copied out while LAMMPS stands still inside its callback. The callback's
//! pointer is taken back before what it points to goes away.
#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::ptr::{self, NonNull};

use super::error::LammpsError;
use super::symbols::Symbols;
use crate::lammps::science::geometry::Domain;

/// The `fix external` that calls us.
const FIX: &str = "flexpath";

// Of library.h: what `lammps_extract_atom_datatype` answers, and how `lammps_extract_compute` is asked.
const TYPE_INT: c_int = 0;
const TYPE_DOUBLE_ROWS: c_int = 3;
const TYPE_INT64: c_int = 4;
const STYLE_ATOM: c_int = 1;
const KIND_VECTOR: c_int = 1;

/// A running LAMMPS. It is closed when dropped; MPI is left to [`Lammps::finish`].
pub struct Lammps {
    view: View,
    /// LAMMPS was given pointers to these when it started.
    _arguments: Vec<CString>,
}

/// LAMMPS standing still in the middle of a run, on one rank: what it knows of this step can be copied out.
pub struct Snapshot<'a> {
    view: View,
    step: i64,
    stop: &'a mut bool,
    _still: PhantomData<&'a Lammps>,
}

/// An instance and the functions to ask it with. Used while a [`Lammps`] is alive, and on its thread, only.
#[derive(Clone, Copy)]
struct View {
    symbols: &'static Symbols,
    handle: NonNull<c_void>,
}

/// What LAMMPS's callback finds behind the pointer that it was given.
struct Hook<'a> {
    view: View,
    on_step: &'a mut dyn FnMut(&mut Snapshot<'_>),
    stopped: bool,
    panic: Option<Box<dyn Any + Send>>,
}

fn text(text: &str) -> Result<CString, LammpsError> {
    CString::new(text).map_err(|_| LammpsError::ZeroByte { text: text.to_owned() })
}

/// See whether LAMMPS's library is there, without starting anything.
///
/// # Errors
/// It is not installed, or lacks functions that are needed.
pub fn check_installed() -> Result<(), LammpsError> {
    Symbols::loaded().map(|_| ())
}

impl Lammps {
    /// Start LAMMPS with command line arguments (without the program's name). It starts MPI if nobody did, and takes
    /// `MPI_COMM_WORLD`: all ranks must come here.
    ///
    /// # Errors
    /// LAMMPS is not installed, or is a build that this program does not know.
    pub fn open(arguments: &[String]) -> Result<Self, LammpsError> {
        let symbols = Symbols::loaded()?;
        let mut owned = vec![text("flexpath-demo")?];
        for argument in arguments {
            owned.push(text(argument)?);
        }
        let mut pointers: Vec<*mut c_char> =
            owned.iter().map(|argument| argument.as_ptr().cast_mut()).collect();
        let count = c_int::try_from(pointers.len()).unwrap_or(c_int::MAX);
        // SAFETY: `pointers` holds `count` C strings that outlive the instance; LAMMPS does not write to them. A null
        // third argument is allowed.
        let handle = unsafe { (symbols.open_no_mpi)(count, pointers.as_mut_ptr(), ptr::null_mut()) };
        let handle = NonNull::new(handle).ok_or(LammpsError::NotStarted { arguments: arguments.to_vec() })?;
        let lammps = Lammps { view: View { symbols, handle }, _arguments: owned };
        lammps.view.refuse_unknown_sizes()?;
        Ok(lammps)
    }

    /// The version as a date: 20210929.
    pub fn version(&self) -> i32 {
        // SAFETY: the instance is alive.
        unsafe { (self.view.symbols.version)(self.view.handle.as_ptr()) }
    }

    /// Run an input file. All ranks must.
    ///
    /// # Errors
    /// A path that is no plain text; what LAMMPS refuses (see the module's text).
    pub fn file(&mut self, path: &Path) -> Result<(), LammpsError> {
        let name = path.to_str().ok_or_else(|| LammpsError::BadPath { path: path.to_owned() })?;
        let argument = text(name)?;
        // SAFETY: the instance is alive and the text ends in a zero byte.
        unsafe { (self.view.symbols.file)(self.view.handle.as_ptr(), argument.as_ptr()) };
        self.view.refuse_error(name)
    }

    /// Run one command. All ranks must.
    ///
    /// # Errors
    /// What LAMMPS refuses (see the module's text).
    pub fn command(&mut self, command: &str) -> Result<(), LammpsError> {
        self.view.command(command)
    }

    /// Run `steps` time steps and call `on_step` on every one whose number is a multiple of `every`, the present one
    /// included. All ranks must. A panic inside `on_step` is kept until the run has ended, as it must not pass through LAMMPS;
    /// `on_step` is not called again.
    ///
    /// # Errors
    /// What LAMMPS refuses (see the module's text).
    pub fn run(
        &mut self,
        steps: u64,
        every: u64,
        on_step: &mut dyn FnMut(&mut Snapshot<'_>),
    ) -> Result<(), LammpsError> {
        let name = text(FIX)?;
        self.view.command(&format!("fix {FIX} all external pf/callback {every} 1"))?;
        let mut hook = Hook { view: self.view, on_step, stopped: false, panic: None };
        // SAFETY: the fix exists; `hook` lives until after the fix is gone, and is not touched from here meanwhile.
        unsafe {
            (self.view.symbols.set_callback)(
                self.view.handle.as_ptr(),
                name.as_ptr(),
                called_back,
                (&raw mut hook).cast(),
            );
        }
        let ran = self.view.command(&format!("run {steps}"));
        let gone = self.view.command(&format!("unfix {FIX}"));
        // A forced time-out would end every later run as well.
        let reset = if hook.stopped { self.view.command("timer timeout off") } else { Ok(()) };
        if let Some(panic) = hook.panic {
            resume_unwind(panic);
        }
        ran.and(gone).and(reset)
    }

    /// Close LAMMPS and end MPI. All ranks must; they wait for one another. No other instance is of use afterwards.
    /// (Dropping an instance only closes it: a rank that failed should end its process, upon which `mpirun` ends the
    /// others.)
    pub fn finish(self) {
        let symbols = self.view.symbols;
        drop(self);
        // SAFETY: MPI was started by LAMMPS, on this thread; a second call does nothing.
        unsafe { (symbols.mpi_finalize)() }
    }
}

impl Drop for Lammps {
    fn drop(&mut self) {
        // SAFETY: the instance is alive and never used again.
        unsafe { (self.view.symbols.close)(self.view.handle.as_ptr()) }
    }
}

/// What LAMMPS calls, in the middle of a run.
///
/// # Safety
/// `hook` is the pointer given to `set_callback`, and `forces` has `count` rows of three.
unsafe extern "C" fn called_back(
    hook: *mut c_void,
    step: i64,
    count: c_int,
    _ids: *mut c_void,
    _positions: *mut *mut f64,
    forces: *mut *mut f64,
) {
    for row in 0..usize::try_from(count).unwrap_or(0) {
        // The rows are not initialised by LAMMPS, and are added to the forces: we add nothing.
        // SAFETY: LAMMPS gives one row of three forces for each own atom.
        unsafe { ptr::write_bytes(*forces.add(row), 0, 3) };
    }
    // SAFETY: `Lammps::run` gave the pointer, waits inside LAMMPS, and LAMMPS calls from that one thread, never nested:
    // a `Snapshot` runs no command.
    let hook = unsafe { &mut *hook.cast::<Hook<'_>>() };
    if hook.panic.is_some() {
        return;
    }
    let mut snapshot = Snapshot { view: hook.view, step, stop: &mut hook.stopped, _still: PhantomData };
    hook.panic = catch_unwind(AssertUnwindSafe(|| (hook.on_step)(&mut snapshot))).err();
    if hook.stopped {
        // SAFETY: the instance is alive; the call sets a number that the run looks at after this step.
        unsafe { (hook.view.symbols.force_timeout)(hook.view.handle.as_ptr()) }
    }
}

impl Snapshot<'_> {
    /// Number of this time step.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// End the run after this step. All ranks must ask for it on the same step.
    pub fn stop(&mut self) {
        *self.stop = true;
    }

    /// How many atoms this rank owns.
    pub fn count(&self) -> usize {
        usize::try_from(self.view.setting(c"nlocal")).unwrap_or(0)
    }

    /// The simulated space. The dummy axis of a two-dimensional problem is not periodic here.
    pub fn domain(&self) -> Domain {
        let (mut low, mut high, mut tilt, mut flags, mut changes) = ([0.0; 3], [0.0; 3], [0.0; 3], [0; 3], 0);
        let [xy, yz, xz] = &mut tilt;
        // SAFETY: the instance is alive; corners and flags have room for three, the others for one.
        unsafe {
            (self.view.symbols.extract_box)(
                self.view.handle.as_ptr(),
                low.as_mut_ptr(),
                high.as_mut_ptr(),
                xy,
                yz,
                xz,
                flags.as_mut_ptr(),
                &raw mut changes,
            );
        }
        let mut periodic = flags.map(|flag| flag != 0);
        periodic[2] &= self.view.setting(c"dimension") != 2;
        Domain { low, high, periodic }
    }

    /// Ids of this rank's own atoms.
    ///
    /// # Errors
    /// LAMMPS has none of the width expected.
    pub fn ids(&self) -> Result<Vec<i64>, LammpsError> {
        let (data, datatype) = self.atom_data(c"id");
        let count = self.count();
        // SAFETY: LAMMPS's list of ids holds at least one number of the width it says for each own atom.
        let ids = unsafe {
            match datatype {
                TYPE_INT => copied::<i32>(data, count).map(|ids| ids.into_iter().map(i64::from).collect()),
                TYPE_INT64 => copied::<i64>(data, count),
                _ => None,
            }
        };
        ids.ok_or_else(|| self.no_such_data("id"))
    }

    /// Types of this rank's own atoms, in the order of the ids.
    ///
    /// # Errors
    /// LAMMPS has none of the width expected.
    pub fn types(&self) -> Result<Vec<i32>, LammpsError> {
        let (data, datatype) = self.atom_data(c"type");
        // SAFETY: LAMMPS's list of types holds at least one number of that width for each own atom.
        let types = (datatype == TYPE_INT).then(|| unsafe { copied::<i32>(data, self.count()) });
        types.flatten().ok_or_else(|| self.no_such_data("type"))
    }

    /// Positions of this rank's own atoms, in the order of the ids, as LAMMPS has them. Along a periodic axis an atom
    /// may have drifted a little out of the domain since LAMMPS last sorted its atoms.
    ///
    /// # Errors
    /// LAMMPS has none of the kind expected.
    pub fn positions(&self) -> Result<Vec<[f64; 3]>, LammpsError> {
        self.rows(c"x")
    }

    /// Velocities of this rank's own atoms, in the order of the ids: those of half a time step before the positions.
    ///
    /// # Errors
    /// LAMMPS has none of the kind expected.
    pub fn velocities(&self) -> Result<Vec<[f64; 3]>, LammpsError> {
        self.rows(c"v")
    }

    /// Changes velocities of this rank's own atoms: `change` gives what an atom of that type and velocity shall have.
    ///
    /// # Errors
    /// LAMMPS has none of the kind expected.
    pub fn change_velocities(
        &mut self,
        change: impl Fn(i32, [f64; 3]) -> [f64; 3],
    ) -> Result<(), LammpsError> {
        let (types, (data, datatype)) = (self.types()?, self.atom_data(c"v"));
        // SAFETY: LAMMPS's `double **` holds a pointer for each own atom, and each leads to three numbers of that atom
        // alone. LAMMPS stands still, and nobody else has a reference to them.
        let changed = unsafe {
            let rows = copied::<*mut [f64; 3]>(data, types.len()).filter(|_| datatype == TYPE_DOUBLE_ROWS);
            rows.map(|rows| rows.into_iter().zip(types).for_each(|(row, kind)| *row = change(kind, *row)))
        };
        changed.ok_or_else(|| self.no_such_data("v"))
    }

    /// What LAMMPS's own compute of this name says of each own atom, in the order of the ids. It is evaluated now, on
    /// the positions that this snapshot shows. All ranks must ask on the same step: some computes communicate.
    ///
    /// # Errors
    /// No such compute, or one that gives no single number for each atom.
    pub fn per_atom(&self, compute: &str) -> Result<Vec<f64>, LammpsError> {
        let name = text(compute)?;
        // SAFETY: the instance is alive and the text ends in a zero byte. `fix external` calls after the forces are
        // known, so own and ghost atoms are current. Computes may run, as they do for a dump at the end of a step.
        let data = unsafe {
            (self.view.symbols.extract_compute)(
                self.view.handle.as_ptr(),
                name.as_ptr(),
                STYLE_ATOM,
                KIND_VECTOR,
            )
        };
        // SAFETY: the vector of a per-atom compute holds one number for each own atom.
        let values = unsafe { copied::<f64>(data, self.count()) };
        values.ok_or_else(|| self.no_such_data(compute))
    }

    fn rows(&self, name: &CStr) -> Result<Vec<[f64; 3]>, LammpsError> {
        let (data, datatype) = self.atom_data(name);
        // SAFETY: LAMMPS's `double **` holds a pointer for each own atom, and each leads to three numbers.
        let rows = unsafe {
            let rows = copied::<*const [f64; 3]>(data, self.count()).filter(|_| datatype == TYPE_DOUBLE_ROWS);
            rows.map(|rows| rows.into_iter().map(|row| *row).collect())
        };
        rows.ok_or_else(|| self.no_such_data(&name.to_string_lossy()))
    }

    /// Where LAMMPS keeps a per-atom quantity, and its kind.
    fn atom_data(&self, name: &CStr) -> (*mut c_void, c_int) {
        let handle = self.view.handle.as_ptr();
        // SAFETY: the instance is alive and the text ends in a zero byte.
        unsafe {
            let datatype = (self.view.symbols.extract_atom_datatype)(handle, name.as_ptr());
            ((self.view.symbols.extract_atom)(handle, name.as_ptr()), datatype)
        }
    }

    fn no_such_data(&self, what: &str) -> LammpsError {
        LammpsError::NoSuchData { what: what.to_owned(), step: self.step }
    }
}

impl View {
    fn command(self, command: &str) -> Result<(), LammpsError> {
        let argument = text(command)?;
        // What it returns is a place inside LAMMPS's own copy of the line: not ours to free.
        // SAFETY: the instance is alive and the text ends in a zero byte.
        unsafe { (self.symbols.command)(self.handle.as_ptr(), argument.as_ptr()) };
        self.refuse_error(command)
    }

    fn setting(self, name: &CStr) -> c_int {
        // SAFETY: the instance is alive and the text ends in a zero byte.
        unsafe { (self.symbols.extract_setting)(self.handle.as_ptr(), name.as_ptr()) }
    }

    /// The callback's signature and the ids depend on the widths that LAMMPS was built with.
    fn refuse_unknown_sizes(self) -> Result<(), LammpsError> {
        let (bigint_len, tagint_len) = (self.setting(c"bigint"), self.setting(c"tagint"));
        if bigint_len == 8 && (tagint_len == 4 || tagint_len == 8) {
            return Ok(());
        }
        Err(LammpsError::UnknownSizes { bigint_len, tagint_len })
    }

    fn refuse_error(self, command: &str) -> Result<(), LammpsError> {
        let mut message = [0u8; 512];
        // SAFETY: the instance is alive; LAMMPS writes a text of at most the length given.
        unsafe {
            if (self.symbols.has_error)(self.handle.as_ptr()) == 0 {
                return Ok(());
            }
            (self.symbols.last_error)(self.handle.as_ptr(), message.as_mut_ptr().cast(), 511);
        }
        let reason =
            CStr::from_bytes_until_nul(&message).unwrap_or_default().to_string_lossy().trim().to_owned();
        Err(LammpsError::Refused { command: command.to_owned(), reason })
    }
}

/// `None` for a null pointer, unless nothing is wanted.
///
/// # Safety
/// `data` is null or points to at least `count` initialised values of `T`, aligned for it, and nothing writes to them
/// meanwhile.
unsafe fn copied<T: Copy>(data: *const c_void, count: usize) -> Option<Vec<T>> {
    if count == 0 {
        return Some(Vec::new());
    }
    if data.is_null() {
        return None;
    }
    // SAFETY: as the caller promises.
    Some(unsafe { std::slice::from_raw_parts(data.cast::<T>(), count) }.to_vec())
}
