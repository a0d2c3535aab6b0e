//! Options of the handles: bounds, policies, deadlines, transports.

pub(crate) mod access;
pub(crate) mod access_file;
pub(crate) mod derived_variable;
pub(crate) mod functions;
pub(crate) mod link;
pub(crate) mod module;
pub(crate) mod publisher;
pub(crate) mod request;
pub(crate) mod subscriber;
pub(crate) mod transformed_variable;
pub(crate) mod wanted_type;
