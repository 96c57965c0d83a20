//! The reference executor: runs a program on a packet with the state, in the order `parse` (with
//! `extract`), `execute` (with `wide` and `effects`), `checksum` (also the deparser).

mod checksum;
mod effects;
mod execute;
mod extract;
mod parse;
mod wide;

pub(crate) use execute::Machine;
