//! How bytes move: contacts, links, segments, and the inproc, shm and tcp transports.
