//! `staging`: a stream that outlives its network and those who read it. A simulation publishes; a stager takes it from
//! memory and disk; it leaves the cluster over one connection that is cut; and outside a reader dies and comes back.

pub mod field;
pub mod parts;
pub mod run;
pub mod settings;
mod way;

pub use settings::Settings;
