//! The native executor: a program becomes machine code when it is loaded, by Cranelift.
//!
//! - `graph`: controls as blocks, each action in place where a table leads to it.
//! - `words`: which words of a packet need memory, and which have to be cleared.
//! - `parser`, `control`, `table`, `deparser` write the code, with what they share in `lower`.
//! - `memory`: the code's memory, its context, and the functions it calls back.
//!
//! Code knows the program, but nothing of its entries: tables have a place each (their site) that
//! every write refreshes, so no write makes code anew, and packets never wait for the compiler.

mod control;
mod deparser;
mod graph;
mod lower;
mod memory;
mod parser;
mod table;
mod words;

use std::collections::BTreeSet;

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, UserFuncName};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use graph::Graph;
use lower::{Lower, Source};
use memory::{Code, Ran, written};
use words::{Graphs, Placing, WordSet};

use crate::machine::Machine;
use crate::packet::Packet;
use crate::program::{HeaderSpan, ParserOperation, Program};
use crate::state::tables::Table;

/// Parser states that are compiled; an artifact with more is left to the interpreter.
const MOST_STATES: usize = 4096;

/// Bytes of headers that are written at most.
const MOST_HEADER_BYTES: usize = 1 << 16;

/// A program as machine code.
#[derive(Debug)]
pub(crate) struct Native {
    code: Code,
    clear: usize,
    parse: usize,
    /// Nothing to verify otherwise.
    verify: Option<usize>,
    ingress: usize,
    egress: usize,
    deparse: usize,
    words: usize,
    /// Bytes that headers take at most, and those written beyond the last one.
    header_bytes: usize,
}

fn signature(convention: CallConv, parameters: usize) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params = vec![AbiParam::new(I64); parameters];
    signature.returns = vec![AbiParam::new(I64)];
    signature
}

/// The compiler for this processor.
fn compiler() -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        (
            "enable_verifier",
            if cfg!(debug_assertions) {
                "true"
            } else {
                "false"
            },
        ),
    ] {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    cranelift_native::builder()
        .map_err(|reason| format!("no code for this processor: {reason}"))?
        .finish(settings::Flags::new(flags))
        .map_err(|error| error.to_string())
}

impl Native {
    /// Compiles a program. An error says why it has to be interpreted.
    pub(crate) fn compile(
        program: &Program,
        tables: &[Table],
        drop_port: u16,
    ) -> Result<Self, String> {
        if program.states.len() > MOST_STATES {
            return Err(format!("it has more than {MOST_STATES} parser states"));
        }
        let longest = |header: &HeaderSpan| {
            let layout = &program.layouts[header.layout as usize];
            // A varbit takes its room at most; eight bytes are written at a time.
            layout.length.max(layout.max_length) as usize + layout.bytes as usize + 8
        };
        let header_bytes = program.emitted.iter().map(longest).sum::<usize>() + 8;
        if header_bytes > MOST_HEADER_BYTES {
            return Err(format!(
                "its headers take more than {MOST_HEADER_BYTES} bytes"
            ));
        }
        if !program.emitted_in_bytes {
            return Err("it writes headers that are no whole number of bytes".into());
        }
        let graphs = graphs(program)?;
        let placing = Placing::new(program, tables, &graphs);
        let isa = compiler()?;
        let source = Source {
            program,
            tables,
            graphs: &graphs,
            placing: &placing,
            drop_port,
            target: isa.frontend_config(),
        };
        let mut code = Vec::new();
        let mut make = |private: Option<&WordSet>, write: &dyn Fn(Lower<'_, '_>)| {
            compile(&isa, &source, private, write, &mut code)
        };
        let clear = make(None, &|lower| lower.clearing())?;
        let parse = make(None, &|lower| lower.parser())?;
        let verify = if program.verified.is_empty() {
            None
        } else {
            Some(make(None, &|lower| lower.verification())?)
        };
        let ingress = make(Some(&placing.private_to_ingress), &|lower| {
            lower.whole_control(&graphs.ingress);
        })?;
        let egress = make(Some(&placing.private_to_egress), &|lower| {
            lower.whole_control(&graphs.egress);
        })?;
        let deparse = make(None, &|lower| lower.deparser())?;
        Ok(Self {
            code: Code::new(&code)?,
            clear,
            parse,
            verify,
            ingress,
            egress,
            deparse,
            words: program.words as usize,
            header_bytes,
        })
    }

    pub(crate) fn code_bytes(&self) -> usize {
        self.code.bytes()
    }

    /// Clears the words of a packet that may be read before they are set.
    pub(crate) fn clear(&self, packet: &mut Packet) {
        if packet.words.len() != self.words {
            packet.words.clear();
            packet.words.resize(self.words, 0);
            return;
        }
        self.code.clear(self.clear, &mut packet.words, self.words);
    }

    fn run(
        &self,
        start: usize,
        machine: &mut Machine<'_>,
        tables: &mut [Table],
        packet: &mut Packet,
    ) -> Ran {
        self.code
            .run(start, machine, tables, packet, &[], std::ptr::null_mut())
    }

    /// Fills the packet's words from the frame: bytes parsed, and the error that ended it.
    pub(crate) fn parse(
        &self,
        machine: &mut Machine<'_>,
        packet: &mut Packet,
        frame: &[u8],
    ) -> (usize, Option<u64>) {
        let nothing = std::ptr::null_mut();
        let ran = self
            .code
            .run(self.parse, machine, &mut [], packet, frame, nothing);
        (ran.at as usize, (ran.result != 0).then_some(ran.error))
    }

    pub(crate) fn verify_checksums(&self, machine: &mut Machine<'_>, packet: &mut Packet) -> bool {
        self.verify
            .is_none_or(|start| self.run(start, machine, &mut [], packet).result != 0)
    }

    pub(crate) fn ingress(
        &self,
        machine: &mut Machine<'_>,
        tables: &mut [Table],
        packet: &mut Packet,
    ) {
        self.run(self.ingress, machine, tables, packet);
    }

    pub(crate) fn egress(
        &self,
        machine: &mut Machine<'_>,
        tables: &mut [Table],
        packet: &mut Packet,
    ) {
        self.run(self.egress, machine, tables, packet);
    }

    /// Updates checksums and writes headers and payload.
    pub(crate) fn deparse(
        &self,
        machine: &mut Machine<'_>,
        packet: &mut Packet,
        out: &mut Vec<u8>,
    ) {
        out.clear();
        out.reserve(self.header_bytes + packet.payload.len());
        let room = out.as_mut_ptr();
        let ran = self
            .code
            .run(self.deparse, machine, &mut [], packet, &[], room);
        written(out, ran.at as usize);
        out.extend_from_slice(&packet.payload);
        if let Some(limit) = packet.truncate_to {
            out.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
    }
}

fn graphs(program: &Program) -> Result<Graphs, String> {
    let targets = graph::targets(program);
    let operations = program.states.iter().flat_map(|state| &state.operations);
    let of_parser = operations.filter_map(|operation| match operation {
        ParserOperation::Code(start) => Some(*start),
        _ => None,
    });
    let checksums = program.verified.iter().chain(&program.updated);
    let of_checksums = checksums.filter_map(|checksum| checksum.condition?.start);
    let starts: BTreeSet<u32> = of_parser.chain(of_checksums).collect();
    let graph = |start| Graph::new(program, &targets, start);
    let others: Result<Vec<_>, String> = starts
        .into_iter()
        .map(|start| Ok((start, graph(start)?)))
        .collect();
    Ok(Graphs {
        ingress: graph(program.ingress)?,
        egress: graph(program.egress)?,
        others: others?,
    })
}

/// Compiles one function and appends it to the code; gives where it starts.
fn compile(
    isa: &OwnedTargetIsa,
    source: &Source<'_>,
    private: Option<&WordSet>,
    write: &dyn Fn(Lower<'_, '_>),
    code: &mut Vec<u8>,
) -> Result<usize, String> {
    let mut context = cranelift_codegen::Context::new();
    context.func.signature = signature(isa.default_call_conv(), 1);
    context.func.name = UserFuncName::user(0, code.len() as u32);
    let mut functions = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut context.func, &mut functions);
    write(Lower::new(source, builder, private));
    let compiled = context
        .compile(&**isa, &mut ControlPlane::default())
        .map_err(|error| format!("the compiler refused it: {:?}", error.inner))?;
    if !compiled.buffer.relocs().is_empty() {
        return Err("its code calls functions that are not there".into());
    }
    // Functions start at whole cache lines.
    code.resize(code.len().next_multiple_of(64), 0);
    let start = code.len();
    code.extend_from_slice(compiled.code_buffer());
    Ok(start)
}

impl Lower<'_, '_> {
    /// Clears the words that may be read before they are set.
    fn clearing(mut self) {
        for word in 0..self.source.program.words {
            if self.source.placing.cleared.has(word) {
                let zero = self.constant(0);
                self.store_word(word, zero);
            }
        }
        let zero = self.constant(0);
        self.builder.ins().return_(&[zero]);
        self.finish();
    }

    fn whole_control(mut self, graph: &Graph) {
        let exit = self.builder.create_block();
        self.graph(graph, exit);
        self.builder.switch_to_block(exit);
        let zero = self.constant(0);
        self.builder.ins().return_(&[zero]);
        self.finish();
    }
}
