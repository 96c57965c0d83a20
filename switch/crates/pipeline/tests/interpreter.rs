//! Every test of this folder, on programs that run in the interpreter.

mod arithmetic;
mod artifacts;
mod booleans;
mod checksums;
mod common;
mod copies;
mod entries;
mod loops;
mod matching;
mod older;
mod parsing;
mod phb;
mod pna;
mod psa;
mod robust;
mod sets;
mod state;
mod tracing;

use phb_pipeline::Executor;

const EXECUTOR: Executor = Executor::Interpreter;
