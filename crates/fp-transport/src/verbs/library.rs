//! libibverbs and librdmacm, opened at run time, as a narrow table of the calls that we make. The program starts
//! without them. Once opened they stay.
//!
//! Existing bindings did not do: `docs/decisions/0025-verbs-by-bindings-of-our-own.md`. `tests/rdma-crates` compares each
//! call with theirs.
#![allow(unsafe_code)] // symbols get their types here

use super::error::VerbsTrouble;
use super::sys::{
    AsyncEvent, CmEvent, CmId, CompChannel, ConnParam, Context, Cq, DeviceAttr, EventChannel, Mr, Pd,
    PortAttr, Qp, QpAttr, QpInitAttr,
};
use std::ffi::{c_char, c_int, c_uint, c_void};

macro_rules! table {
    ($($library:ident { $($name:ident($($argument:ty),*) $(-> $result:ty)?;)* })*) => {
        /// The calls.
        pub(super) struct Library {
            $($(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*)*
        }

        impl Library {
            pub(super) fn load() -> Result<Library, VerbsTrouble> {
                $(let $library = open(concat!("lib", stringify!($library), ".so.1"))?;)*
                Ok(Library { $($($name: symbol($library, stringify!($name))?,)*)* })
            }

            /// A table whose calls end the test that makes them: it puts its own where it needs some.
            #[cfg(test)]
            pub(super) fn of_no_calls() -> Library {
                $($(extern "C" fn $name($(_: $argument),*) $(-> $result)? { panic!(stringify!($name)) })*)*
                Library { $($($name,)*)* }
            }
        }
    };
}

table! {
    ibverbs {
        ibv_fork_init() -> c_int;
        ibv_get_device_list(*mut c_int) -> *mut *mut c_void;
        ibv_free_device_list(*mut *mut c_void);
        ibv_get_device_name(*mut c_void) -> *const c_char;
        ibv_query_device(*mut Context, *mut DeviceAttr) -> c_int;
        ibv_query_port(*mut Context, u8, *mut PortAttr) -> c_int;
        ibv_alloc_pd(*mut Context) -> *mut Pd;
        ibv_dealloc_pd(*mut Pd) -> c_int;
        ibv_reg_mr(*mut Pd, *mut c_void, usize, c_int) -> *mut Mr;
        ibv_dereg_mr(*mut Mr) -> c_int;
        ibv_create_comp_channel(*mut Context) -> *mut CompChannel;
        ibv_destroy_comp_channel(*mut CompChannel) -> c_int;
        ibv_create_cq(*mut Context, c_int, *mut c_void, *mut CompChannel, c_int) -> *mut Cq;
        ibv_destroy_cq(*mut Cq) -> c_int;
        ibv_get_cq_event(*mut CompChannel, *mut *mut Cq, *mut *mut c_void) -> c_int;
        ibv_ack_cq_events(*mut Cq, u32);
        ibv_get_async_event(*mut Context, *mut AsyncEvent) -> c_int;
        ibv_ack_async_event(*mut AsyncEvent);
        ibv_modify_qp(*mut Qp, *mut QpAttr, c_int) -> c_int;
        ibv_destroy_qp(*mut Qp) -> c_int;
    }
    rdmacm {
        rdma_get_devices(*mut c_int) -> *mut *mut Context;
        rdma_free_devices(*mut *mut Context);
        rdma_create_event_channel() -> *mut EventChannel;
        rdma_destroy_event_channel(*mut EventChannel);
        rdma_create_id(*mut EventChannel, *mut *mut CmId, *mut c_void, c_uint) -> c_int;
        rdma_destroy_id(*mut CmId) -> c_int;
        rdma_bind_addr(*mut CmId, *mut c_void) -> c_int;
        rdma_listen(*mut CmId, c_int) -> c_int;
        rdma_resolve_addr(*mut CmId, *mut c_void, *mut c_void, c_int) -> c_int;
        rdma_resolve_route(*mut CmId, c_int) -> c_int;
        rdma_create_qp(*mut CmId, *mut Pd, *mut QpInitAttr) -> c_int;
        rdma_connect(*mut CmId, *mut ConnParam) -> c_int;
        rdma_accept(*mut CmId, *mut ConnParam) -> c_int;
        rdma_reject(*mut CmId, *const c_void, u8) -> c_int;
        rdma_disconnect(*mut CmId) -> c_int;
        rdma_migrate_id(*mut CmId, *mut EventChannel) -> c_int;
        rdma_get_cm_event(*mut EventChannel, *mut *mut CmEvent) -> c_int;
        rdma_ack_cm_event(*mut CmEvent) -> c_int;
    }
}

/// Opens a library and never closes it: what it made may live as long as the process.
fn open(name: &'static str) -> Result<&'static libloading::Library, VerbsTrouble> {
    // SAFETY: the constructors of rdma-core's libraries read the environment and allocate, nothing more; they are named
    // with their version, whose interface the table has.
    let library = unsafe { libloading::Library::new(name) }.map_err(missing(name))?;
    Ok(Box::leak(Box::new(library)))
}

fn symbol<T: Copy>(library: &'static libloading::Library, name: &'static str) -> Result<T, VerbsTrouble> {
    // SAFETY: the table gives each name the type that the headers of rdma-core give it.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(missing(name))
}

/// A library, or the symbol of one.
fn missing(library: &'static str) -> impl FnOnce(libloading::Error) -> VerbsTrouble {
    move |error| VerbsTrouble::NoLibrary { library, error: error.to_string() }
}
