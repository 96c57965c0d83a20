//! The reference executor: runs a program on a packet with the state, in the order `parse`,
//! `execute`, `checksum` (also the deparser). It needs nothing of the machine but memory.

mod checksum;
mod execute;
mod parse;
