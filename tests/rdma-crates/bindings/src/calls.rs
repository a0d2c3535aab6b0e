//! Every call of the table: how many arguments it has, and of which kind each is. A pointer is a pointer, whatever it
//! points to: layouts are compared apart.

use crate::library::Library;
use std::ffi::c_void;

/// What an argument is to a caller: its size, whether it has a sign, or that it is a pointer.
trait Kind {
    const KIND: &'static str;
}

macro_rules! kinds {
    ($($type:ty = $kind:literal),*) => { $(impl Kind for $type { const KIND: &'static str = $kind; })* };
}

kinds!(u8 = "u8", u16 = "u16", i32 = "i32", u32 = "u32", u64 = "u64", usize = "u64", () = "nothing");

impl<T> Kind for *mut T {
    const KIND: &'static str = "pointer";
}

impl<T> Kind for *const T {
    const KIND: &'static str = "pointer";
}

/// A function as a caller sees it.
trait Signature {
    fn signature(self) -> Vec<&'static str>;
}

macro_rules! signatures {
    ($($(#[$all:meta])? ($($argument:ident),*);)*) => {
        $(impl<$($argument: Kind,)* R: Kind> Signature for unsafe extern "C" fn($($argument),*) -> R {
            fn signature(self) -> Vec<&'static str> {
                vec![R::KIND, $($argument::KIND),*]
            }
        })*
    };
}

signatures! { (); (A); (A, B); (A, B, C); (A, B, C, D); (A, B, C, D, E); }

/// Compares calls of the table with those of a crate. Each `_` is an argument of theirs.
macro_rules! compare {
    ($theirs:ident: $($name:ident($($argument:tt),*);)*) => {{
        let mut compared = 0;
        $({
            let ours = |library: &Library| library.$name.signature();
            let theirs = ($theirs::$name as unsafe extern "C" fn($($argument),*) -> _).signature();
            let library = Library::of_no_calls();
            assert_eq!(ours(&library), theirs, concat!(stringify!($theirs), "::", stringify!($name)));
            compared += 1;
        })*
        compared
    }};
}

macro_rules! compare_all {
    ($theirs:ident) => {
        compare!($theirs:
            ibv_fork_init(); ibv_get_device_list(_); ibv_free_device_list(_); ibv_get_device_name(_);
            ibv_query_device(_, _); ibv_alloc_pd(_); ibv_dealloc_pd(_); ibv_reg_mr(_, _, _, _); ibv_dereg_mr(_);
            ibv_create_comp_channel(_); ibv_destroy_comp_channel(_); ibv_create_cq(_, _, _, _, _); ibv_destroy_cq(_);
            ibv_get_cq_event(_, _, _); ibv_ack_cq_events(_, _); ibv_get_async_event(_, _); ibv_ack_async_event(_);
            ibv_modify_qp(_, _, _); ibv_destroy_qp(_);
            rdma_get_devices(_); rdma_free_devices(_); rdma_create_event_channel(); rdma_destroy_event_channel(_);
            rdma_create_id(_, _, _, _); rdma_destroy_id(_); rdma_bind_addr(_, _); rdma_listen(_, _);
            rdma_resolve_addr(_, _, _, _); rdma_resolve_route(_, _); rdma_create_qp(_, _, _); rdma_connect(_, _);
            rdma_accept(_, _); rdma_reject(_, _, _); rdma_disconnect(_); rdma_migrate_id(_, _);
            rdma_get_cm_event(_, _); rdma_ack_cm_event(_);
        )
    };
}

#[test]
fn every_call_is_that_of_the_other_crates() {
    let compared = [compare_all!(rdma_sys), compare_all!(rdma_mummy_sys)];
    // The call of the library, which the headers hide behind an inline function of the same name.
    let ours = Library::of_no_calls().ibv_query_port.signature();
    let theirs = rdma_sys::ibv_query_port as unsafe extern "C" fn(_, _, _) -> _;
    assert_eq!(ours, theirs.signature());
    let theirs = rdma_mummy_sys::ibv_query_port_compat as unsafe extern "C" fn(_, _, _) -> _;
    assert_eq!(ours, theirs.signature());
    let table = std::mem::size_of::<Library>() / std::mem::size_of::<*mut c_void>();
    assert_eq!(compared.map(|compared| compared + 1), [table; 2], "all of the table");
}
