//! The reference executor: runs a program, instruction by instruction, on a packet with the state.
//!
//! In the order a packet meets them: `parse` (with `extract`), `execute` (with `wide` for numbers of more than a word and
//! `effects` for headers and externs), `checksum` (also the deparser).

mod checksum;
mod effects;
mod execute;
mod extract;
mod parse;
mod wide;

pub(crate) use execute::Machine;
