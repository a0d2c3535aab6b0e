//! The functions of LAMMPS's C library, found at run time.
//!
//! Signatures are those of `library.h` of the version of 29 Sep 2021, unchanged since where used here.
#![allow(unsafe_code)]

use std::error::Error;
use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::error::LammpsError;

/// Names under which the library may be found, in this order. (Debian's runtime package has the first alone.)
const NAMES: [&str; 2] = ["liblammps.so.0", "liblammps.so"];
/// Names another library file, to be used instead of the installed one.
const PATH_VARIABLE: &str = "FLEXPATH_LAMMPS_LIBRARY";

pub(super) type Handle = *mut c_void;
/// Pointer given, time step, number of own atoms, their ids (32 or 64 bits), their positions, forces to be filled in.
pub(super) type Callback =
    unsafe extern "C" fn(*mut c_void, i64, c_int, *mut c_void, *mut *mut f64, *mut *mut f64);

/// The functions used, resolved once.
pub(super) struct Symbols {
    pub(super) open_no_mpi: unsafe extern "C" fn(c_int, *mut *mut c_char, *mut Handle) -> Handle,
    pub(super) close: unsafe extern "C" fn(Handle),
    pub(super) mpi_finalize: unsafe extern "C" fn(),
    pub(super) version: unsafe extern "C" fn(Handle) -> c_int,
    pub(super) file: unsafe extern "C" fn(Handle, *const c_char),
    pub(super) command: unsafe extern "C" fn(Handle, *const c_char) -> *mut c_char,
    pub(super) has_error: unsafe extern "C" fn(Handle) -> c_int,
    pub(super) last_error: unsafe extern "C" fn(Handle, *mut c_char, c_int) -> c_int,
    pub(super) extract_setting: unsafe extern "C" fn(Handle, *const c_char) -> c_int,
    pub(super) extract_box: unsafe extern "C" fn(
        Handle,
        *mut f64,
        *mut f64,
        *mut f64,
        *mut f64,
        *mut f64,
        *mut c_int,
        *mut c_int,
    ),
    pub(super) extract_atom: unsafe extern "C" fn(Handle, *const c_char) -> *mut c_void,
    pub(super) extract_atom_datatype: unsafe extern "C" fn(Handle, *const c_char) -> c_int,
    pub(super) extract_compute: unsafe extern "C" fn(Handle, *const c_char, c_int, c_int) -> *mut c_void,
    pub(super) set_callback: unsafe extern "C" fn(Handle, *const c_char, Callback, *mut c_void),
    pub(super) force_timeout: unsafe extern "C" fn(Handle),
    _library: Library,
}

impl Symbols {
    /// The library's functions, opened on first use and never unloaded: MPI, once started, does not survive that.
    pub(super) fn loaded() -> Result<&'static Self, LammpsError> {
        static LOADED: OnceLock<Result<Symbols, LammpsError>> = OnceLock::new();
        LOADED.get_or_init(Symbols::load).as_ref().map_err(Clone::clone)
    }

    fn load() -> Result<Self, LammpsError> {
        let library = open_library()?;
        // SAFETY: each field has the signature that library.h declares for the symbol it is filled from. The library is
        // kept beside the functions, in a static.
        unsafe {
            Ok(Symbols {
                open_no_mpi: function(&library, "lammps_open_no_mpi")?,
                close: function(&library, "lammps_close")?,
                mpi_finalize: function(&library, "lammps_mpi_finalize")?,
                version: function(&library, "lammps_version")?,
                file: function(&library, "lammps_file")?,
                command: function(&library, "lammps_command")?,
                has_error: function(&library, "lammps_has_error")?,
                last_error: function(&library, "lammps_get_last_error_message")?,
                extract_setting: function(&library, "lammps_extract_setting")?,
                extract_box: function(&library, "lammps_extract_box")?,
                extract_atom: function(&library, "lammps_extract_atom")?,
                extract_atom_datatype: function(&library, "lammps_extract_atom_datatype")?,
                extract_compute: function(&library, "lammps_extract_compute")?,
                set_callback: function(&library, "lammps_set_fix_external_callback")?,
                force_timeout: function(&library, "lammps_force_timeout")?,
                _library: library,
            })
        }
    }
}

fn open_library() -> Result<Library, LammpsError> {
    let named = std::env::var(PATH_VARIABLE).ok();
    let names = named.map_or_else(|| NAMES.map(str::to_owned).to_vec(), |name| vec![name]);
    let mut tried = Vec::new();
    for name in names {
        // Open MPI's plugins look for the symbols of libmpi among the global ones, hence RTLD_GLOBAL.
        // SAFETY: opening runs the library's initialisers; those of LAMMPS, MPI and what they need are meant for it.
        match unsafe { Library::open(Some(&name), RTLD_NOW | RTLD_GLOBAL) } {
            Ok(library) => return Ok(library),
            Err(error) => {
                let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                tried.push(format!("{name} ({reason})"));
            }
        }
    }
    Err(LammpsError::NotInstalled { tried })
}

/// # Safety
/// `T` is the function pointer type of the symbol, and what is returned is not used after the library is gone.
unsafe fn function<T: Copy>(library: &Library, symbol: &'static str) -> Result<T, LammpsError> {
    // SAFETY: as the caller promises.
    let found = unsafe { library.get::<T>(symbol) };
    found.map(|found| *found).map_err(|_| LammpsError::MissingSymbol { symbol })
}
