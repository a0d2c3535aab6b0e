//! What things are: element types, regions, layouts, plans and schemas, pure.
#![forbid(unsafe_code)]
