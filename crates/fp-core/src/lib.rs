//! Publisher and Subscriber handles, the driver and the data plane.
#![forbid(unsafe_code)]
