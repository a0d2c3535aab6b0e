//! Our structures and numbers of rdma-core against its C headers: sizes, offsets, values.
//!
//! Needs a C compiler and the headers, which a build does not. On Debian these are libibverbs-dev and librdmacm-dev; a
//! folder of them in `FLEXPATH_VERBS_HEADERS` will do. Without them the test says that it was skipped.
//! `FLEXPATH_REQUIRE_VERBS_HEADERS=1` makes that an error.

use fp_transport::verbs::sys;
use std::io::Write as _;
use std::mem::{offset_of, size_of};
use std::process::Command;

/// An expression of C and what it must be.
type Check = (&'static str, u64);

macro_rules! places {
    ($checks:expr, $c:literal, $ours:ty: $($field:literal = $place:ident),* $(,)?) => {
        $($checks.push((concat!("offsetof(", $c, ", ", $field, ")"), offset_of!($ours, $place) as u64));)*
    };
}

fn sizes() -> Vec<Check> {
    vec![
        ("sizeof(struct ibv_context_ops)", size_of::<sys::ContextOps>() as u64),
        ("sizeof(struct ibv_mr)", size_of::<sys::Mr>() as u64),
        ("sizeof(struct ibv_sge)", size_of::<sys::Sge>() as u64),
        ("sizeof(struct ibv_send_wr)", size_of::<sys::SendWr>() as u64),
        ("sizeof(struct ibv_recv_wr)", size_of::<sys::RecvWr>() as u64),
        ("sizeof(struct ibv_wc)", size_of::<sys::Wc>() as u64),
        ("sizeof(struct ibv_qp_cap)", size_of::<sys::QpCap>() as u64),
        ("sizeof(struct ibv_qp_init_attr)", size_of::<sys::QpInitAttr>() as u64),
        ("sizeof(struct ibv_async_event)", size_of::<sys::AsyncEvent>() as u64),
        ("sizeof(struct rdma_event_channel)", size_of::<sys::EventChannel>() as u64),
        ("sizeof(struct rdma_conn_param)", size_of::<sys::ConnParam>() as u64),
        // Written by the libraries: ours have room to spare.
        ("sizeof(struct ibv_qp_attr) <= 256", 1),
        ("sizeof(struct ibv_device_attr) <= 300", 1),
        ("sizeof(struct ibv_port_attr) <= 128", 1),
        ("sizeof(struct sockaddr_storage)", size_of::<libc::sockaddr_storage>() as u64),
    ]
}

fn offsets() -> Vec<Check> {
    let mut checks = Vec::new();
    places!(checks, "struct ibv_context", sys::Context:
        "device" = device, "ops" = ops, "async_fd" = async_fd);
    places!(checks, "struct ibv_context_ops", sys::ContextOps:
        "poll_cq" = poll_cq, "req_notify_cq" = req_notify_cq, "post_send" = post_send, "post_recv" = post_recv);
    places!(checks, "struct ibv_comp_channel", sys::CompChannel: "fd" = fd);
    places!(checks, "struct ibv_mr", sys::Mr: "addr" = addr, "lkey" = lkey, "rkey" = rkey);
    places!(checks, "struct ibv_send_wr", sys::SendWr:
        "sg_list" = sg_list, "num_sge" = num_sge, "opcode" = opcode, "send_flags" = send_flags, "imm_data" = imm_data,
        "wr.rdma.remote_addr" = remote_addr, "wr.rdma.rkey" = rkey);
    places!(checks, "struct ibv_recv_wr", sys::RecvWr: "sg_list" = sg_list, "num_sge" = num_sge);
    places!(checks, "struct ibv_wc", sys::Wc:
        "status" = status, "byte_len" = byte_len, "imm_data" = imm_data, "wc_flags" = wc_flags);
    places!(checks, "struct ibv_qp_init_attr", sys::QpInitAttr:
        "send_cq" = send_cq, "recv_cq" = recv_cq, "cap" = cap, "qp_type" = qp_type, "sq_sig_all" = sq_sig_all);
    places!(checks, "struct ibv_qp_attr", sys::QpAttr: "qp_state" = qp_state);
    places!(checks, "struct ibv_device_attr", sys::DeviceAttr:
        "max_mr_size" = max_mr_size, "max_qp_wr" = max_qp_wr, "max_sge" = max_sge, "max_sge_rd" = max_sge_rd,
        "max_qp_rd_atom" = max_qp_rd_atom, "max_qp_init_rd_atom" = max_qp_init_rd_atom,
        "phys_port_cnt" = phys_port_cnt);
    places!(checks, "struct ibv_port_attr", sys::PortAttr: "state" = state, "active_mtu" = active_mtu);
    places!(checks, "struct ibv_async_event", sys::AsyncEvent: "event_type" = event_type);
    places!(checks, "struct rdma_cm_id", sys::CmId:
        "verbs" = verbs, "qp" = qp, "route.addr.src_storage" = src, "route.addr.dst_storage" = dst,
        "route.addr.addr.ibaddr.sgid" = sgid, "port_num" = port_num);
    places!(checks, "struct rdma_conn_param", sys::ConnParam:
        "responder_resources" = responder_resources, "initiator_depth" = initiator_depth,
        "rnr_retry_count" = rnr_retry_count, "qp_num" = qp_num);
    places!(checks, "struct rdma_cm_event", sys::CmEvent:
        "id" = id, "event" = event, "status" = status, "param.conn" = conn);
    checks
}

fn numbers() -> Vec<Check> {
    vec![
        ("IBV_WR_SEND_WITH_IMM", sys::WR_SEND_WITH_IMM.into()),
        ("IBV_WR_RDMA_READ", sys::WR_RDMA_READ.into()),
        ("IBV_SEND_SIGNALED", sys::SEND_SIGNALED.into()),
        ("IBV_SEND_SOLICITED", sys::SEND_SOLICITED.into()),
        ("IBV_SEND_INLINE", sys::SEND_INLINE.into()),
        ("IBV_ACCESS_LOCAL_WRITE", sys::ACCESS_LOCAL_WRITE as u64),
        ("IBV_ACCESS_REMOTE_READ", sys::ACCESS_REMOTE_READ as u64),
        ("IBV_QPT_RC", sys::QPT_RC.into()),
        ("IBV_QP_STATE", sys::QP_STATE as u64),
        ("IBV_QPS_ERR", sys::QPS_ERR.into()),
        ("IBV_PORT_ACTIVE", sys::PORT_ACTIVE.into()),
        ("IBV_WC_WR_FLUSH_ERR", sys::WC_WR_FLUSH_ERR.into()),
        // As `Breakage::Status` and the tests of READs have it.
        ("IBV_WC_REM_ACCESS_ERR", 10),
        ("IBV_EVENT_DEVICE_FATAL", sys::EVENT_DEVICE_FATAL.into()),
        ("IBV_EVENT_PORT_ACTIVE", sys::EVENT_PORT_ACTIVE.into()),
        ("IBV_EVENT_PORT_ERR", sys::EVENT_PORT_ERR.into()),
        ("RDMA_PS_TCP", sys::PS_TCP as u64),
        ("RDMA_CM_EVENT_ADDR_RESOLVED", sys::CM_ADDR_RESOLVED.into()),
        ("RDMA_CM_EVENT_ADDR_ERROR", sys::CM_ADDR_ERROR.into()),
        ("RDMA_CM_EVENT_ROUTE_RESOLVED", sys::CM_ROUTE_RESOLVED.into()),
        ("RDMA_CM_EVENT_CONNECT_REQUEST", sys::CM_CONNECT_REQUEST.into()),
        ("RDMA_CM_EVENT_REJECTED", sys::CM_REJECTED.into()),
        ("RDMA_CM_EVENT_ESTABLISHED", sys::CM_ESTABLISHED.into()),
        ("RDMA_CM_EVENT_DISCONNECTED", sys::CM_DISCONNECTED.into()),
        ("RDMA_CM_EVENT_DEVICE_REMOVAL", sys::CM_DEVICE_REMOVAL.into()),
    ]
}

/// A program that does not compile where a value is another one.
fn program(checks: &[Check]) -> String {
    let mut text =
        "#include <infiniband/verbs.h>\n#include <rdma/rdma_cma.h>\n#include <stddef.h>\n".to_owned();
    for (expression, value) in checks {
        text += &format!("_Static_assert(({expression}) == {value}, \"{expression} is not {value}\");\n");
    }
    text
}

fn compile(text: &str) -> Result<(), String> {
    let source = std::env::temp_dir().join(format!("flexpath-bindings-{}.c", std::process::id()));
    std::fs::write(&source, text).expect("room for a file");
    let mut compiler = Command::new("cc");
    compiler.arg("-fsyntax-only").arg(&source);
    if let Some(folder) = std::env::var_os("FLEXPATH_VERBS_HEADERS") {
        compiler.arg("-I").arg(folder);
    }
    let output = compiler.output();
    std::fs::remove_file(source).expect("ours");
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(format!("no C compiler: {error}")),
    }
}

#[test]
fn our_structures_are_those_of_the_headers() {
    if let Err(reason) = compile(&program(&[])) {
        assert!(std::env::var_os("FLEXPATH_REQUIRE_VERBS_HEADERS").is_none(), "{reason}");
        let first = reason.lines().find(|line| line.contains("error")).unwrap_or(&reason);
        // Past the harness, which shows nothing of tests that pass.
        let mut out = std::io::stdout();
        writeln!(out, "skipped: no headers of libibverbs and librdmacm: {first}").expect("an output");
        return;
    }
    let checks = [sizes(), offsets(), numbers()].concat();
    assert!(compile(&program(&checks)).is_ok_and(|()| checks.len() > 80), "{:?}", compile(&program(&checks)));
    // The test itself can fail.
    let wrong = ("sizeof(struct ibv_send_wr)", size_of::<sys::SendWr>() as u64 + 8);
    assert!(compile(&program(&[wrong])).is_err_and(|error| error.contains("is not 136")));
}
