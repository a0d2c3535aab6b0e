//! `staging`: a stream that outlives its network and those who read it. A simulation publishes, and a stager takes it,
//! over memory and disk. It leaves the cluster over one connection, which is cut. Outside an analysis is killed, and
//! another one goes on.

pub mod field;
pub mod parts;
pub mod run;
pub mod settings;
mod store;
mod way;

pub use settings::Settings;
