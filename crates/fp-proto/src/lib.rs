//! What is agreed: the sans-IO machines, their messages and the codec.
#![forbid(unsafe_code)]
