//! The few structures and numbers of libibverbs and librdmacm (rdma-core) that we use, written by hand.
//!
//! Structures that the libraries make are declared up to the last field that we read, as we never copy them or ask for
//! their size. Those that we make are declared whole. `tests/verbs_bindings.rs` compares sizes, offsets and numbers
//! with the C headers, where there are any.

#![allow(unreachable_pub)] // public for that test alone

use std::ffi::{c_char, c_int, c_uint, c_void};

/// `struct ibv_context`: an open device.
#[repr(C)]
pub struct Context {
    /// The device.
    pub device: *mut c_void,
    /// Functions of the driver, which the headers call in inline functions.
    pub ops: ContextOps,
    /// Descriptor of commands.
    pub cmd_fd: c_int,
    /// Descriptor of asynchronous events.
    pub async_fd: c_int,
}

/// `struct ibv_context_ops`.
#[repr(C)]
pub struct ContextOps {
    _before: [*mut c_void; 11],
    /// `ibv_poll_cq`.
    pub poll_cq: Option<unsafe extern "C" fn(*mut Cq, c_int, *mut Wc) -> c_int>,
    /// `ibv_req_notify_cq`.
    pub req_notify_cq: Option<unsafe extern "C" fn(*mut Cq, c_int) -> c_int>,
    _between: [*mut c_void; 12],
    /// `ibv_post_send`.
    pub post_send: Option<unsafe extern "C" fn(*mut Qp, *mut SendWr, *mut *mut SendWr) -> c_int>,
    /// `ibv_post_recv`.
    pub post_recv: Option<unsafe extern "C" fn(*mut Qp, *mut RecvWr, *mut *mut RecvWr) -> c_int>,
    _after: [*mut c_void; 5],
}

/// `struct ibv_cq`, its beginning.
#[repr(C)]
pub struct Cq {
    /// The device.
    pub context: *mut Context,
}

/// `struct ibv_qp`, its beginning.
#[repr(C)]
pub struct Qp {
    /// The device.
    pub context: *mut Context,
}

/// `struct ibv_pd`, its beginning.
#[repr(C)]
pub struct Pd {
    /// The device.
    pub context: *mut Context,
}

/// `struct ibv_comp_channel`, its beginning.
#[repr(C)]
pub struct CompChannel {
    /// The device.
    pub context: *mut Context,
    /// Readable when there is an event.
    pub fd: c_int,
}

/// `struct ibv_mr`.
#[repr(C)]
pub struct Mr {
    /// The device.
    pub context: *mut Context,
    /// The protection domain.
    pub pd: *mut Pd,
    /// First byte.
    pub addr: *mut c_void,
    /// Bytes.
    pub length: usize,
    /// Of the kernel.
    pub handle: u32,
    /// Key for this side.
    pub lkey: u32,
    /// Key for the peer.
    pub rkey: u32,
}

/// `struct ibv_sge`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Sge {
    /// First byte.
    pub addr: u64,
    /// Bytes.
    pub length: u32,
    /// Key of the memory region.
    pub lkey: u32,
}

/// `struct ibv_send_wr`, whose unions are given the room of their longest member.
#[repr(C)]
pub struct SendWr {
    /// Comes back in the completion.
    pub wr_id: u64,
    /// The next one of a list.
    pub next: *mut SendWr,
    /// Memory of this side.
    pub sg_list: *mut Sge,
    /// How many.
    pub num_sge: c_int,
    /// What to do.
    pub opcode: c_uint,
    /// `SEND_*`.
    pub send_flags: c_uint,
    /// Immediate data, big endian.
    pub imm_data: u32,
    /// `wr.rdma.remote_addr`.
    pub remote_addr: u64,
    /// `wr.rdma.rkey`.
    pub rkey: u32,
    _rest_of_wr: [u32; 5],
    _qp_type: u64,
    _bind_or_tso: [u64; 6],
}

impl SendWr {
    /// All zeros but what every request needs.
    pub fn new(wr_id: u64, opcode: c_uint, send_flags: c_uint) -> SendWr {
        SendWr {
            wr_id,
            next: std::ptr::null_mut(),
            sg_list: std::ptr::null_mut(),
            num_sge: 0,
            opcode,
            send_flags,
            imm_data: 0,
            remote_addr: 0,
            rkey: 0,
            _rest_of_wr: [0; 5],
            _qp_type: 0,
            _bind_or_tso: [0; 6],
        }
    }
}

/// `struct ibv_recv_wr`.
#[repr(C)]
pub struct RecvWr {
    /// Comes back in the completion.
    pub wr_id: u64,
    /// The next one of a list.
    pub next: *mut RecvWr,
    /// Memory of this side.
    pub sg_list: *mut Sge,
    /// How many.
    pub num_sge: c_int,
}

/// `struct ibv_wc`: a completion.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Wc {
    /// Of the request.
    pub wr_id: u64,
    /// 0: done.
    pub status: c_uint,
    /// Meaningless where it failed.
    pub opcode: c_uint,
    /// Of the driver.
    pub vendor_err: u32,
    /// Bytes received.
    pub byte_len: u32,
    /// Immediate data, big endian.
    pub imm_data: u32,
    /// The queue pair.
    pub qp_num: u32,
    /// Not used here.
    pub src_qp: u32,
    /// Whether immediate data came.
    pub wc_flags: c_uint,
    /// Not used here.
    pub pkey_index: u16,
    /// Not used here.
    pub slid: u16,
    /// Not used here.
    pub sl: u8,
    /// Not used here.
    pub dlid_path_bits: u8,
}

/// `struct ibv_qp_cap`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct QpCap {
    /// Requests that may wait to be sent.
    pub max_send_wr: u32,
    /// Receives that may wait.
    pub max_recv_wr: u32,
    /// Places of memory of one request.
    pub max_send_sge: u32,
    /// Places of memory of one receive.
    pub max_recv_sge: u32,
    /// Bytes that a request may carry by itself.
    pub max_inline_data: u32,
}

/// `struct ibv_qp_init_attr`.
#[repr(C)]
pub struct QpInitAttr {
    /// Ours.
    pub qp_context: *mut c_void,
    /// Completions of sends.
    pub send_cq: *mut Cq,
    /// Completions of receives.
    pub recv_cq: *mut Cq,
    /// None here.
    pub srq: *mut c_void,
    /// Sizes; the driver writes what it gave.
    pub cap: QpCap,
    /// `QPT_RC`.
    pub qp_type: c_uint,
    /// 0: only requests that ask for it complete.
    pub sq_sig_all: c_int,
}

/// `struct ibv_qp_attr`: only its first field is used, with `QP_STATE`.
#[repr(C)]
pub struct QpAttr {
    /// `QPS_ERR`.
    pub qp_state: c_uint,
    /// Zeros, longer than what follows in any version.
    pub rest: [u32; 63],
}

/// `struct ibv_device_attr`.
#[repr(C)]
pub struct DeviceAttr {
    /// Firmware.
    pub fw_ver: [c_char; 64],
    _guids: [u64; 2],
    /// Bytes of one registration.
    pub max_mr_size: u64,
    _page_size_cap: u64,
    _vendor: [u32; 3],
    /// Queue pairs.
    pub max_qp: c_int,
    /// Requests of a queue pair.
    pub max_qp_wr: c_int,
    _device_cap_flags: c_uint,
    /// Places of memory of one request.
    pub max_sge: c_int,
    /// Likewise, of an RDMA READ (iWARP: fewer).
    pub max_sge_rd: c_int,
    _max_cq: c_int,
    /// Completions of a queue.
    pub max_cqe: c_int,
    /// Registrations.
    pub max_mr: c_int,
    _max_pd: c_int,
    /// READs that a queue pair answers at one time.
    pub max_qp_rd_atom: c_int,
    _max_ee_rd_atom: c_int,
    _max_res_rd_atom: c_int,
    /// READs that a queue pair may have under way.
    pub max_qp_init_rd_atom: c_int,
    _rest: [c_int; 16],
    _max_pkeys: u16,
    _local_ca_ack_delay: u8,
    /// Ports.
    pub phys_port_cnt: u8,
    _spare: [u64; 8],
}

/// `struct ibv_port_attr`, its beginning, and room for what any version may write.
#[repr(C)]
pub struct PortAttr {
    /// `PORT_ACTIVE`.
    pub state: c_uint,
    /// 1: 256 bytes, to 5: 4096.
    pub max_mtu: c_uint,
    /// Likewise.
    pub active_mtu: c_uint,
    /// Room.
    pub rest: [u32; 29],
}

/// `struct ibv_async_event`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct AsyncEvent {
    /// A queue, or a port number.
    pub element: u64,
    /// `EVENT_*`.
    pub event_type: c_uint,
}

/// `struct rdma_event_channel`.
#[repr(C)]
pub struct EventChannel {
    /// Readable when there is an event.
    pub fd: c_int,
}

/// `struct rdma_cm_id`, its beginning.
#[repr(C)]
pub struct CmId {
    /// The device; null until it is known.
    pub verbs: *mut Context,
    /// Where its events come.
    pub event_source: *mut EventChannel,
    /// Ours.
    pub context: *mut c_void,
    /// The queue pair.
    pub qp: *mut Qp,
    /// Own address.
    pub src: libc::sockaddr_storage,
    /// The peer's address.
    pub dst: libc::sockaddr_storage,
    /// Own gid.
    pub sgid: [u8; 16],
    /// The peer's gid.
    pub dgid: [u8; 16],
    _pkey: u64,
    _path_rec: *mut c_void,
    /// With what C leaves free behind it.
    _num_paths: u64,
    _ps: c_uint,
    /// The device's port, from 1.
    pub port_num: u8,
}

/// `struct rdma_conn_param`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ConnParam {
    /// None here.
    pub private_data: *const c_void,
    /// Bytes of it.
    pub private_data_len: u8,
    /// READs of the peer that are answered at one time.
    pub responder_resources: u8,
    /// READs that this side has under way.
    pub initiator_depth: u8,
    /// Of the hardware.
    pub flow_control: u8,
    /// Tries again, at most 7.
    pub retry_count: u8,
    /// Tries again when the peer is out of receives; 7: for ever.
    pub rnr_retry_count: u8,
    /// Whether receives are shared.
    pub srq: u8,
    /// The queue pair, where librdmacm did not make it.
    pub qp_num: u32,
}

/// `struct rdma_cm_event`, its beginning.
#[repr(C)]
pub struct CmEvent {
    /// Whose.
    pub id: *mut CmId,
    /// The listening one, of a request.
    pub listen_id: *mut CmId,
    /// `CM_*`.
    pub event: c_uint,
    /// 0, a negative errno, or the reason of a rejection.
    pub status: c_int,
    /// Of a connection.
    pub conn: ConnParam,
}

/// `IBV_WR_SEND_WITH_IMM`.
pub const WR_SEND_WITH_IMM: c_uint = 3;
/// `IBV_WR_RDMA_READ`.
pub const WR_RDMA_READ: c_uint = 4;
/// `IBV_SEND_SIGNALED`.
pub const SEND_SIGNALED: c_uint = 1 << 1;
/// `IBV_SEND_SOLICITED`.
pub const SEND_SOLICITED: c_uint = 1 << 2;
/// `IBV_SEND_INLINE`.
pub const SEND_INLINE: c_uint = 1 << 3;
/// `IBV_ACCESS_LOCAL_WRITE`.
pub const ACCESS_LOCAL_WRITE: c_int = 1;
/// `IBV_ACCESS_REMOTE_READ`.
pub const ACCESS_REMOTE_READ: c_int = 1 << 2;
/// `IBV_QPT_RC`.
pub const QPT_RC: c_uint = 2;
/// `IBV_QP_STATE`.
pub const QP_STATE: c_int = 1;
/// `IBV_QPS_ERR`.
pub const QPS_ERR: c_uint = 6;
/// `IBV_PORT_ACTIVE`.
pub const PORT_ACTIVE: c_uint = 4;
/// `IBV_WC_WR_FLUSH_ERR`.
pub const WC_WR_FLUSH_ERR: c_uint = 5;
/// `IBV_EVENT_DEVICE_FATAL`.
pub const EVENT_DEVICE_FATAL: c_uint = 8;
/// `IBV_EVENT_PORT_ACTIVE`.
pub const EVENT_PORT_ACTIVE: c_uint = 9;
/// `IBV_EVENT_PORT_ERR`.
pub const EVENT_PORT_ERR: c_uint = 10;
/// `RDMA_PS_TCP`.
pub const PS_TCP: c_uint = 0x0106;
/// `RDMA_CM_EVENT_ADDR_RESOLVED`.
pub const CM_ADDR_RESOLVED: c_uint = 0;
/// `RDMA_CM_EVENT_ADDR_ERROR`.
pub const CM_ADDR_ERROR: c_uint = 1;
/// `RDMA_CM_EVENT_ROUTE_RESOLVED`.
pub const CM_ROUTE_RESOLVED: c_uint = 2;
/// `RDMA_CM_EVENT_CONNECT_REQUEST`.
pub const CM_CONNECT_REQUEST: c_uint = 4;
/// `RDMA_CM_EVENT_REJECTED`.
pub const CM_REJECTED: c_uint = 8;
/// `RDMA_CM_EVENT_ESTABLISHED`.
pub const CM_ESTABLISHED: c_uint = 9;
/// `RDMA_CM_EVENT_DISCONNECTED`.
pub const CM_DISCONNECTED: c_uint = 10;
/// `RDMA_CM_EVENT_DEVICE_REMOVAL`.
pub const CM_DEVICE_REMOVAL: c_uint = 11;
