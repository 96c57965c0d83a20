//! The native executor: a program becomes machine code when it is loaded, by Cranelift.
//!
//! - `graph`: controls as blocks, each action in place where a table leads to it.
//! - `size`: whether the code would be too large.
//! - `words`: which words of a packet need memory, and which have to be cleared.
//! - `parser`, `control`, `deparser` write the code, with what they share in `lower`; `table`, `arrays`,
//!   `prefix`, `calculation` and `wide` are parts of controls.
//! - `memory`: the code's memory, its context, and the functions it calls back.
//!
//! Code knows the program, but nothing of its entries: tables have a place each (their site) that
//! every write refreshes, so no write makes code anew, and packets never wait for the compiler.

mod arrays;
mod calculation;
mod control;
mod deparser;
mod graph;
mod lower;
mod memory;
mod parser;
mod prefix;
mod size;
mod table;
mod wide;
mod words;

use std::collections::BTreeSet;
use std::mem::offset_of;
use std::ptr::null_mut;

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I16, I32, I64, Type};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, UserFuncName, Value};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};

use graph::Graph;
use lower::{Lower, Region, Source, Written};
use memory::{Call, Callback, Code, Context, written};
use size::Size;
use words::{Graphs, Placing};

use crate::machine::Machine;
use crate::packet::Packet;
use crate::path::QueueMetadata;
use crate::program::{HeaderSpan, ParserOperation, Program, WordField};
use crate::state::tables::Table;

/// Parser states that are compiled; an artifact with more is left to the interpreter.
const MOST_STATES: usize = 4096;

/// Bytes of headers that are written at most.
const MOST_HEADER_BYTES: usize = 1 << 16;

/// Kinds of memory times blocks of a function: the compiler takes four bytes for each pair.
const MOST_PLACES: usize = 1 << 24;

/// Bytes of stack that a function may take; threads have two million.
const MOST_STACK: u32 = 1 << 16;

/// Blocks of a control whose addresses all fit the processor's registers.
const FEW_BLOCKS: usize = 64;

/// A program as machine code.
#[derive(Debug)]
pub(crate) struct Native {
    code: Code,
    /// From the parser to the end of ingress.
    ingress: usize,
    egress: usize,
    deparse: usize,
    words: usize,
    /// Bytes that headers take at most, and those written beyond the last one.
    header_bytes: usize,
    long_calls: usize,
}

fn signature(convention: CallConv, parameters: usize) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params = vec![AbiParam::new(I64); parameters];
    signature
}

/// The compiler for this processor.
fn compiler() -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let builder = cranelift_native::builder()
        .map_err(|reason| format!("no code for this processor: {reason}"))?;
    // The compiler has it for these only.
    let pinned = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    let said = |on: bool| if on { "true" } else { "false" };
    for (name, value) in [
        ("opt_level", "speed"),
        ("is_pic", "false"),
        ("enable_verifier", said(cfg!(debug_assertions))),
        ("enable_pinned_reg", said(pinned)),
        // A frame larger than the page that guards a stack touches that page, not what lies beyond.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ] {
        flags.set(name, value).map_err(|error| error.to_string())?;
    }
    builder
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
        if program.psa.is_some() {
            return Err("it is a program for PSA".into());
        }
        if program.states.len() > MOST_STATES {
            return Err(format!("it has more than {MOST_STATES} parser states"));
        }
        let longest = |header: &HeaderSpan| {
            let layout = &program.layouts[header.layout as usize];
            // A varbit takes its room at most; eight bytes are written at a time.
            layout.length.max(layout.max_length) as usize + layout.bytes as usize + 8
        };
        let header_bytes = program.deparser.emitted.iter().map(longest).sum::<usize>() + 8;
        if header_bytes > MOST_HEADER_BYTES {
            return Err(format!(
                "its headers take more than {MOST_HEADER_BYTES} bytes"
            ));
        }
        if !program.deparser.in_bytes {
            return Err("it writes headers that are no whole number of bytes".into());
        }
        let graphs = graphs(program)?;
        let size = Size {
            program,
            tables,
            graphs: &graphs,
        };
        let long_calls = size.long_calls();
        let size = size.check()?;
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
        let (mut code, mut made) = (Vec::new(), 0);
        let mut make = |of: Written<'_>, write: &dyn Fn(Lower<'_, '_>)| {
            compile(&isa, &source, of, write, &mut code, &mut made)
        };
        let pins = isa.flags().enable_pinned_reg();
        let control = |private, graph: &Graph| Written {
            private: Some(private),
            pinned: pins && graph.blocks.len() > FEW_BLOCKS,
        };
        let (arriving, leaving) = (&graphs.ingress, &graphs.egress);
        let ingress = make(control(&placing.private_to_ingress, arriving), &|lower| {
            lower.ingress(arriving);
        })?;
        let egress = make(control(&placing.private_to_egress, leaving), &|lower| {
            lower.egress(leaving);
        })?;
        let deparse = make(Written::default(), &|lower| lower.deparser())?;
        debug_assert!(
            made <= size,
            "{made} instructions where there should be at most {size}"
        );
        Ok(Self {
            code: Code::new(&code)?,
            ingress,
            egress,
            deparse,
            words: program.words as usize,
            header_bytes,
            long_calls,
        })
    }

    pub(crate) fn code_bytes(&self) -> usize {
        self.code.bytes()
    }

    pub(crate) fn long_calls(&self) -> usize {
        self.long_calls
    }

    /// Takes a frame that arrives at a port through parser, checksums and ingress. The packet may
    /// have memory of another one.
    #[inline]
    pub(crate) fn arrive(
        &self,
        machine: &mut Machine<'_>,
        tables: &mut [Table],
        packet: &mut Packet,
        frame: &[u8],
        port: u16,
    ) {
        packet.begin(machine.program.bytes as usize, frame.len());
        if packet.words.len() != self.words {
            packet.words.clear();
            packet.words.resize(self.words, 0);
        }
        let mut call = self.code.call(machine, tables, packet, frame, null_mut());
        call.arrives(port);
        self.through_ingress(call);
    }

    /// As [`Self::arrive`], for a packet whose metadata are set.
    pub(crate) fn process(
        &self,
        machine: &mut Machine<'_>,
        tables: &mut [Table],
        packet: &mut Packet,
        frame: &[u8],
    ) {
        let call = self.code.call(machine, tables, packet, frame, null_mut());
        self.through_ingress(call);
    }

    #[inline]
    fn through_ingress<'c>(&'c self, mut call: Call<'c>) {
        call.control(self.ingress);
        call.take_payload();
    }

    /// Applies egress to a packet that leaves its queue.
    #[inline]
    pub(crate) fn egress(
        &self,
        machine: &mut Machine<'_>,
        tables: &mut [Table],
        packet: &mut Packet,
        queue: &QueueMetadata,
    ) {
        let mut call = self.code.call(machine, tables, packet, &[], null_mut());
        call.leaves(queue);
        call.control(self.egress);
    }

    /// Updates checksums and writes headers and payload.
    #[inline]
    pub(crate) fn deparse(
        &self,
        machine: &mut Machine<'_>,
        packet: &mut Packet,
        out: &mut Vec<u8>,
    ) {
        out.clear();
        out.reserve(self.header_bytes + packet.payload.len());
        let room = out.as_mut_ptr();
        let mut call = self.code.call(machine, &mut [], packet, &[], room);
        call.run(self.deparse);
        let bytes = call.at();
        written(out, bytes);
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
    let mut left = graph::MOST_STEPS;
    let mut graph = |start| Graph::new(program, &targets, start, &mut left);
    let others: Result<Vec<_>, String> = starts
        .into_iter()
        .map(|start| Ok((start, graph(start)?)))
        .collect();
    let others = others?;
    Ok(Graphs {
        ingress: graph(program.ingress)?,
        egress: graph(program.egress)?,
        others,
    })
}

/// Compiles one function and appends it to the code; gives where it starts.
fn compile(
    isa: &OwnedTargetIsa,
    source: &Source<'_>,
    of: Written<'_>,
    write: &dyn Fn(Lower<'_, '_>),
    code: &mut Vec<u8>,
    made: &mut usize,
) -> Result<usize, String> {
    let mut context = cranelift_codegen::Context::new();
    context.func.signature = signature(isa.default_call_conv(), 1);
    context.func.name = UserFuncName::user(0, code.len() as u32);
    let mut functions = FunctionBuilderContext::new();
    let builder = FunctionBuilder::new(&mut context.func, &mut functions);
    write(Lower::new(source, builder, of));
    let parts = &context.func.dfg;
    *made += parts.num_insts();
    // It looks at each kind of memory in each block.
    if parts.num_blocks() * parts.alias_regions.len() > MOST_PLACES {
        return Err("its code has too many blocks for the words of a packet".into());
    }
    let compiled = context
        .compile(&**isa, &mut ControlPlane::default())
        .map_err(|error| format!("the compiler refused it: {:?}", error.inner))?;
    let frame = compiled.buffer.frame_layout();
    if frame.is_some_and(|layout| layout.frame_to_fp_offset > MOST_STACK) {
        return Err(format!("it takes more than {MOST_STACK} bytes of stack"));
    }
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
    /// From the frame to the end of ingress.
    fn ingress(mut self, graph: &Graph) {
        let (arrives, begun) = (self.builder.create_block(), self.builder.create_block());
        let port = self.fixed(Context::PORT);
        let fresh = self.compared(IntCC::NotEqual, port, Context::METADATA_ARE_SET);
        self.builder.ins().brif(fresh, arrives, &[], begun, &[]);
        self.builder.switch_to_block(arrives);
        self.arrival(port);
        self.builder.ins().jump(begun, &[]);
        self.builder.switch_to_block(begun);
        self.parser();
        let program = self.source.program;
        if program
            .calculations
            .iter()
            .any(|calculation| calculation.payload)
        {
            self.call(Callback::Payload, &[]);
        }
        self.verification();
        self.whole_control(graph);
    }

    /// Clears the words that may be read before they are set, and sets the metadata of a packet
    /// that arrives.
    fn arrival(&mut self, port: Value) {
        let placing = self.source.placing;
        let words = 0..self.source.program.words;
        self.clear(words.filter(|word| placing.cleared.has(*word)));
        let standard = self.source.program.standard;
        self.tell(standard.ingress_port, |_| port);
        self.tell(standard.packet_length, |lower| {
            lower.length(offset_of!(Packet, received_length))
        });
        self.tell(standard.ingress_global_timestamp, Self::microseconds);
    }

    fn whole_control(mut self, graph: &Graph) {
        let exit = self.builder.create_block();
        self.graph(graph, exit);
        self.builder.switch_to_block(exit);
        self.leave();
    }

    fn egress(mut self, graph: &Graph) {
        let standard = self.source.program.standard;
        let depth = |field| move |lower: &mut Self| lower.queued(field, I32);
        let time = |field| {
            move |lower: &mut Self| {
                let time = lower.queued(field, I64);
                lower.thousandth(time)
            }
        };
        self.tell(standard.egress_port, |lower| {
            lower.queued(offset_of!(QueueMetadata, egress_port), I16)
        });
        self.tell(
            standard.enq_timestamp,
            time(offset_of!(QueueMetadata, enq_timestamp_ns)),
        );
        self.tell(
            standard.enq_qdepth,
            depth(offset_of!(QueueMetadata, enq_qdepth)),
        );
        self.tell(
            standard.deq_timedelta,
            time(offset_of!(QueueMetadata, deq_timedelta_ns)),
        );
        self.tell(
            standard.deq_qdepth,
            depth(offset_of!(QueueMetadata, deq_qdepth)),
        );
        self.tell(standard.egress_global_timestamp, Self::microseconds);
        self.tell(standard.packet_length, |lower| {
            lower.length(offset_of!(Packet, current_length))
        });
        // Not the drop port: the value that ingress left has no meaning in egress.
        let spec = u64::from(self.source.drop_port) + 1;
        self.tell(standard.egress_spec, |lower| lower.constant(spec));
        self.whole_control(graph);
    }

    /// Sets a standard metadata field, if anything reads it.
    fn tell(&mut self, field: Option<WordField>, value: impl FnOnce(&mut Self) -> Value) {
        if let Some(field) = field
            && self.source.placing.read.has(field.word)
        {
            let value = value(self);
            let value = self.fit(value, field.fit);
            self.store_word(field.word, value);
        }
    }

    /// A field of the packet's time in its queue.
    fn queued(&mut self, field: usize, width: Type) -> Value {
        let queue = self.fixed(Context::QUEUE);
        self.read_from(queue, field, width)
    }

    fn read_from(&mut self, address: Value, offset: usize, width: Type) -> Value {
        let flags = self.flags(Region::Fixed);
        let ins = self.builder.ins();
        let value = ins.load(width, flags, address, offset as i32);
        if width == I64 {
            value
        } else {
            self.builder.ins().uextend(I64, value)
        }
    }

    fn microseconds(&mut self) -> Value {
        let machine = self.fixed(Context::MACHINE);
        let now = self.read_from(machine, offset_of!(Machine<'_>, now), I64);
        self.thousandth(now)
    }

    fn thousandth(&mut self, value: Value) -> Value {
        let thousand = self.constant(1000);
        self.builder.ins().udiv(value, thousand)
    }
}
