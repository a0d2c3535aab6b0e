//! Flexpath's bindings of rdma-core, held against those of `rdma-sys` and `rdma-mummy-sys`. The structures, numbers and
//! calls are the files of `fp-transport` themselves. Others wrote the two crates, the first from the headers that are
//! installed here, the second from a copy of its own.
#![cfg(test)]

#[path = "../../../../crates/fp-transport/src/verbs/library.rs"]
#[allow(dead_code)] // nothing is opened here
mod library;
#[path = "../../../../crates/fp-transport/src/verbs/sys.rs"]
#[allow(dead_code)]
mod sys;

mod calls;
mod layouts;

/// What `library.rs` says when it cannot be opened, which nobody asks of it here.
mod error {
    pub(crate) enum VerbsTrouble {
        #[allow(dead_code)]
        NoLibrary { library: &'static str, error: String },
    }
}
