//! Sizes and places of structures, and numbers.

use crate::sys;
use std::mem::{offset_of, size_of};

/// Places of fields: theirs, which may lie in unions, and ours.
macro_rules! places {
    ($theirs:ty, $ours:ty: $($place:ident $(. $within:ident)* = $own:ident),* $(,)?) => {
        [$((
            concat!(stringify!($theirs), ".", stringify!($place $(.$within)*)),
            offset_of!($theirs, $place $(.$within)*),
            offset_of!($ours, $own),
        )),*]
    };
}

/// The whole structure, and its fields of the same names.
macro_rules! whole {
    ($theirs:ty, $ours:ty: $($place:ident),* $(,)?) => {{
        let mut all = places!($theirs, $ours: $($place = $place),*).to_vec();
        all.push((concat!("size of ", stringify!($theirs)), size_of::<$theirs>(), size_of::<$ours>()));
        all
    }};
}

macro_rules! number {
    ($all:ident: $($theirs:expr => $ours:expr),* $(,)?) => {
        $($all.push((stringify!($theirs), $theirs as usize, $ours as usize));)*
    };
}

macro_rules! compare_with {
    ($test:ident, $theirs:ident) => {
        #[test]
        fn $test() {
            use $theirs as other;
            let mut all = whole!(other::ibv_context_ops, sys::ContextOps: poll_cq, req_notify_cq, post_send, post_recv);
            all.extend(places!(other::ibv_context, sys::Context:
                device = device, ops = ops, cmd_fd = cmd_fd, async_fd = async_fd));
            all.extend(places!(other::ibv_cq, sys::Cq: context = context));
            all.extend(places!(other::ibv_qp, sys::Qp: context = context));
            all.extend(places!(other::ibv_pd, sys::Pd: context = context));
            all.extend(places!(other::ibv_comp_channel, sys::CompChannel: context = context, fd = fd));
            all.extend(whole!(other::ibv_mr, sys::Mr: context, pd, addr, length, handle, lkey, rkey));
            all.extend(whole!(other::ibv_sge, sys::Sge: addr, length, lkey));
            all.extend(whole!(other::ibv_send_wr, sys::SendWr:
                wr_id, next, sg_list, num_sge, opcode, send_flags));
            all.extend(places!(other::ibv_send_wr, sys::SendWr:
                imm_data_invalidated_rkey_union.imm_data = imm_data,
                wr.rdma.remote_addr = remote_addr, wr.rdma.rkey = rkey));
            all.extend(whole!(other::ibv_recv_wr, sys::RecvWr: wr_id, next, sg_list, num_sge));
            all.extend(whole!(other::ibv_wc, sys::Wc:
                wr_id, status, opcode, vendor_err, byte_len, qp_num, src_qp, wc_flags, pkey_index, slid, sl,
                dlid_path_bits));
            all.extend(places!(other::ibv_wc, sys::Wc: imm_data_invalidated_rkey_union.imm_data = imm_data));
            all.extend(whole!(other::ibv_qp_cap, sys::QpCap:
                max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data));
            all.extend(whole!(other::ibv_qp_init_attr, sys::QpInitAttr:
                qp_context, send_cq, recv_cq, srq, cap, qp_type, sq_sig_all));
            all.extend(places!(other::ibv_qp_attr, sys::QpAttr: qp_state = qp_state));
            all.extend(places!(other::ibv_device_attr, sys::DeviceAttr:
                fw_ver = fw_ver, max_mr_size = max_mr_size, max_qp = max_qp, max_qp_wr = max_qp_wr, max_sge = max_sge,
                max_sge_rd = max_sge_rd, max_cqe = max_cqe, max_mr = max_mr, max_qp_rd_atom = max_qp_rd_atom,
                max_qp_init_rd_atom = max_qp_init_rd_atom, phys_port_cnt = phys_port_cnt));
            all.extend(places!(other::ibv_port_attr, sys::PortAttr:
                state = state, max_mtu = max_mtu, active_mtu = active_mtu));
            all.extend(whole!(other::ibv_async_event, sys::AsyncEvent: element, event_type));
            all.extend(whole!(other::rdma_event_channel, sys::EventChannel: fd));
            all.extend(places!(other::rdma_cm_id, sys::CmId:
                verbs = verbs, channel = event_source, context = context, qp = qp, route.addr.src_addr_union = src,
                route.addr.dst_addr_union = dst, route.addr.addr.ibaddr.sgid = sgid,
                route.addr.addr.ibaddr.dgid = dgid, port_num = port_num));
            all.extend(whole!(other::rdma_conn_param, sys::ConnParam:
                private_data, private_data_len, responder_resources, initiator_depth, flow_control, retry_count,
                rnr_retry_count, srq, qp_num));
            all.extend(places!(other::rdma_cm_event, sys::CmEvent:
                id = id, listen_id = listen_id, event = event, status = status, param.conn = conn));
            number!(all:
                other::ibv_wr_opcode::IBV_WR_SEND_WITH_IMM => sys::WR_SEND_WITH_IMM,
                other::ibv_wr_opcode::IBV_WR_RDMA_READ => sys::WR_RDMA_READ,
                other::ibv_send_flags::IBV_SEND_SIGNALED.0 => sys::SEND_SIGNALED,
                other::ibv_send_flags::IBV_SEND_SOLICITED.0 => sys::SEND_SOLICITED,
                other::ibv_send_flags::IBV_SEND_INLINE.0 => sys::SEND_INLINE,
                other::ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0 => sys::ACCESS_LOCAL_WRITE,
                other::ibv_access_flags::IBV_ACCESS_REMOTE_READ.0 => sys::ACCESS_REMOTE_READ,
                other::ibv_qp_type::IBV_QPT_RC => sys::QPT_RC,
                other::ibv_qp_attr_mask::IBV_QP_STATE.0 => sys::QP_STATE,
                other::ibv_qp_state::IBV_QPS_ERR => sys::QPS_ERR,
                other::ibv_port_state::IBV_PORT_ACTIVE => sys::PORT_ACTIVE,
                other::ibv_wc_status::IBV_WC_WR_FLUSH_ERR => sys::WC_WR_FLUSH_ERR,
                other::ibv_event_type::IBV_EVENT_DEVICE_FATAL => sys::EVENT_DEVICE_FATAL,
                other::ibv_event_type::IBV_EVENT_PORT_ACTIVE => sys::EVENT_PORT_ACTIVE,
                other::ibv_event_type::IBV_EVENT_PORT_ERR => sys::EVENT_PORT_ERR,
                other::rdma_port_space::RDMA_PS_TCP => sys::PS_TCP,
                other::rdma_cm_event_type::RDMA_CM_EVENT_ADDR_RESOLVED => sys::CM_ADDR_RESOLVED,
                other::rdma_cm_event_type::RDMA_CM_EVENT_ADDR_ERROR => sys::CM_ADDR_ERROR,
                other::rdma_cm_event_type::RDMA_CM_EVENT_ROUTE_RESOLVED => sys::CM_ROUTE_RESOLVED,
                other::rdma_cm_event_type::RDMA_CM_EVENT_CONNECT_REQUEST => sys::CM_CONNECT_REQUEST,
                other::rdma_cm_event_type::RDMA_CM_EVENT_REJECTED => sys::CM_REJECTED,
                other::rdma_cm_event_type::RDMA_CM_EVENT_ESTABLISHED => sys::CM_ESTABLISHED,
                other::rdma_cm_event_type::RDMA_CM_EVENT_DISCONNECTED => sys::CM_DISCONNECTED,
                other::rdma_cm_event_type::RDMA_CM_EVENT_DEVICE_REMOVAL => sys::CM_DEVICE_REMOVAL,
            );
            let wrong: Vec<_> = all.iter().filter(|(_, theirs, ours)| theirs != ours).collect();
            assert!(wrong.is_empty(), "what it is, theirs, ours: {wrong:#?}");
            // What the libraries write into memory of ours has room there.
            assert!(size_of::<other::ibv_qp_attr>() <= size_of::<sys::QpAttr>());
            assert!(size_of::<other::ibv_device_attr>() <= size_of::<sys::DeviceAttr>());
            assert!(size_of::<other::ibv_port_attr>() <= size_of::<sys::PortAttr>());
            assert!(all.len() > 110, "{} places and numbers", all.len());
        }
    };
}

compare_with!(layouts_and_numbers_are_those_of_rdma_sys, rdma_sys);
compare_with!(layouts_and_numbers_are_those_of_rdma_mummy_sys, rdma_mummy_sys);
