//! The border between native code and the switch: the context that code is called with, the functions
//! it calls back, and the memory it lies in. All `unsafe` of this crate is here.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::mem::{MaybeUninit, offset_of};

use memmap2::{Mmap, MmapMut};

use crate::machine::{Machine, write_header};
use crate::packet::Packet;
use crate::path::QueueMetadata;
use crate::program::{Cases, HeaderSpan};
use crate::state::externs::counter::CounterArray;
use crate::state::externs::register::RegisterArray;
use crate::state::tables::Table;

/// The memory that code works with while it runs. Code knows the places of the fields.
#[repr(C)]
pub(super) struct Context {
    words: *mut u64,
    registers: *const RegisterArray,
    counters: *const CounterArray,
    tables: *mut Table,
    machine: *mut Machine<'static>,
    packet: *mut Packet,
    frame: *const u8,
    length: u64,
    queue: *const QueueMetadata,
    out: *mut u8,
    /// The port by which the packet arrives, or [`Context::METADATA_ARE_SET`].
    port: u64,
    /// Bytes parsed, or written.
    at: u64,
    exhausted: u64,
    has_payload: u64,
    error: MaybeUninit<u64>,
    parameters: MaybeUninit<*const u64>,
    /// Where writes beyond the end of an array go.
    sink: MaybeUninit<[u64; 2]>,
}

macro_rules! places {
    ($($name:ident $field:ident),*) => {
        $(pub(super) const $name: i32 = offset_of!(Context, $field) as i32;)*
    };
}

impl Context {
    places!(
        WORDS words, REGISTERS registers, COUNTERS counters, TABLES tables, MACHINE machine,
        PACKET packet, FRAME frame, LENGTH length, QUEUE queue, OUT out, PORT port, AT at,
        EXHAUSTED exhausted, ERROR error, PARAMETERS parameters, SINK sink
    );

    /// In place of a port: the packet doesn't arrive.
    pub(super) const METADATA_ARE_SET: u64 = u64::MAX;
}

/// The functions that code calls back.
#[derive(Debug, Clone, Copy)]
pub(super) enum Callback {
    Perform,
    Wide,
    Calculate,
    Apply,
    Search,
    Parse,
    Select,
    Append,
    Payload,
}

impl Callback {
    pub(super) fn address(self) -> usize {
        let function: *const () = match self {
            Self::Perform => perform as *const (),
            Self::Wide => wide as *const (),
            Self::Calculate => calculate as *const (),
            Self::Apply => apply as *const (),
            Self::Search => best_search(),
            Self::Parse => parse as *const (),
            Self::Select => select as *const (),
            Self::Append => append as *const (),
            Self::Payload => payload as *const (),
        };
        function.expose_provenance()
    }
}

/// The machine and the packet of a context.
///
/// # Safety
///
/// `context` is what [`Code::call`] made for the code that calls back. The code holds no reference,
/// and does nothing else meanwhile, so these are the only ones.
unsafe fn parts<'c>(context: *mut Context) -> (&'c mut Machine<'static>, &'c mut Packet) {
    // SAFETY: as above.
    unsafe { (&mut *(*context).machine, &mut *(*context).packet) }
}

extern "C" fn perform(context: *mut Context, number: u64) -> u64 {
    // SAFETY: called by code with its own context.
    let (machine, packet) = unsafe { parts(context) };
    let program = machine.program;
    machine.perform(&program.operations[number as usize], packet);
    0
}

extern "C" fn wide(context: *mut Context, number: u64) -> u64 {
    // SAFETY: called by code with its own context.
    let (machine, packet) = unsafe { parts(context) };
    machine.program.wide[number as usize].perform(&mut packet.words);
    0
}

extern "C" fn calculate(context: *mut Context, number: u64) -> u64 {
    // SAFETY: called by code with its own context.
    let (machine, packet) = unsafe { parts(context) };
    machine.calculate(number as u32, packet)
}

/// Applies a table: gives the outcome, and the place of the runtime data in the context.
extern "C" fn apply(context: *mut Context, number: u64, key: *const u64) -> u64 {
    // SAFETY: called by code with its own context.
    let (machine, packet) = unsafe { parts(context) };
    // SAFETY: the number is one of the program's, of which the state has as many tables; no other
    // reference to them is used while the code runs.
    let table = unsafe { &mut *(*context).tables.add(number as usize) };
    let words = table.pieces().1;
    // SAFETY: the code has made room for the longest key of all tables, and written this one's.
    let key = unsafe { std::slice::from_raw_parts(key, words) };
    let taken = table.apply_key(key, packet, machine.now);
    let (outcome, parameters) = (taken.outcome, taken.parameters.as_ptr());
    // SAFETY: the context of the code that calls.
    unsafe { (*context).parameters.write(parameters) };
    outcome.into()
}

/// Searches a table: gives one more than the number of the entry found, or zero.
extern "C" fn search(context: *mut Context, number: u64, key: *const u64) -> u64 {
    found(context, number, key)
}

/// As [`search`], for processors that have these instructions (x86-64-v3): bit vectors are and-ed
/// four words at a time, and ones are counted at once.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
extern "C" fn search_v3(context: *mut Context, number: u64, key: *const u64) -> u64 {
    found(context, number, key)
}

#[inline(always)]
fn found(context: *mut Context, number: u64, key: *const u64) -> u64 {
    // SAFETY: as in `apply`; nothing changes the table meanwhile.
    let table = unsafe { &*(*context).tables.add(number as usize) };
    // SAFETY: as in `apply`.
    let key = unsafe { std::slice::from_raw_parts(key, table.pieces().1) };
    table.search(key).map_or(0, |number| u64::from(number) + 1)
}

/// The search for this processor.
fn best_search() -> *const () {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
    {
        return search_v3 as *const ();
    }
    search as *const ()
}

/// Performs an operation of a parser state; 1 if it ends in an error.
extern "C" fn parse(context: *mut Context, state: u64, operation: u64) -> u64 {
    // SAFETY: called by code with its own context.
    let (machine, packet) = unsafe { parts(context) };
    let operation = &machine.program.states[state as usize].operations[operation as usize];
    // SAFETY: frame and length are those of the slice that [`Code::call`] was given.
    let frame = unsafe { std::slice::from_raw_parts((*context).frame, (*context).length as usize) };
    // SAFETY: the context of the code that calls.
    let mut at = unsafe { (*context).at } as usize;
    let result = machine.parse_one(operation, packet, frame, &mut at);
    // SAFETY: the context of the code that calls.
    unsafe {
        (*context).at = at as u64;
        (*context).error.write(result.err().unwrap_or(0));
    }
    result.is_err().into()
}

/// The number of the case of a parser state that the packet meets; as many as there are for none.
extern "C" fn select(context: *mut Context, state: u64) -> u64 {
    // SAFETY: called by code with its own context.
    let (machine, packet) = unsafe { parts(context) };
    let state = &machine.program.states[state as usize];
    match &state.cases {
        Cases::Any(cases) => machine.chosen_case(cases, &state.keys, packet) as u64,
        Cases::Exact(cases) => cases.len() as u64,
    }
}

/// Appends an emitted header that has no plan.
extern "C" fn append(context: *mut Context, emitted: u64) -> u64 {
    // SAFETY: called by code with its own context.
    let (machine, packet) = unsafe { parts(context) };
    let header: HeaderSpan = machine.program.deparser.emitted[emitted as usize];
    machine.scratch.clear();
    let mut writer = crate::bits::Writer::new(machine.scratch);
    write_header(&mut writer, header, machine.program, packet);
    writer.finish();
    let bytes = machine.scratch.len();
    // SAFETY: the buffer has room for the longest form of every emitted header, and the scratch
    // buffer is another one.
    unsafe {
        let out = (*context).out.add((*context).at as usize);
        out.copy_from_nonoverlapping(machine.scratch.as_ptr(), bytes);
        (*context).at += bytes as u64;
    }
    0
}

/// Takes the payload before ingress, for calculations of it.
extern "C" fn payload(context: *mut Context) -> u64 {
    // SAFETY: called by code with its own context.
    unsafe { take_payload(&mut *context) };
    0
}

/// Copies what follows the parsed headers to the packet, unless that is done.
///
/// # Safety
///
/// As for [`parts`]; the code has parsed.
unsafe fn take_payload(context: &mut Context) {
    if context.has_payload == 0 {
        context.has_payload = 1;
        // SAFETY: frame and length are those of the slice that [`Code::call`] was given.
        let frame = unsafe { std::slice::from_raw_parts(context.frame, context.length as usize) };
        // SAFETY: as in `parts`.
        let packet = unsafe { &mut *context.packet };
        packet
            .payload
            .extend_from_slice(&frame[context.at as usize..]);
    }
}

/// Functions in memory that can be executed, but not written.
#[derive(Debug)]
pub(super) struct Code {
    memory: Mmap,
}

impl Code {
    /// Puts code into memory of its own, which is writable first and executable then.
    pub(super) fn new(code: &[u8]) -> Result<Self, String> {
        let refused = |error: std::io::Error| {
            format!("the system gives no memory that can be executed: {error}")
        };
        let mut memory = MmapMut::map_anon(code.len().max(1)).map_err(refused)?;
        memory[..code.len()].copy_from_slice(code);
        let memory = memory.make_exec().map_err(refused)?;
        Ok(Self { memory })
    }

    pub(super) fn bytes(&self) -> usize {
        self.memory.len()
    }

    /// Begins to run functions on a packet; `out` has room for what is written of it.
    #[inline]
    pub(super) fn call<'c>(
        &'c self,
        machine: &'c mut Machine<'_>,
        tables: &'c mut [Table],
        packet: &'c mut Packet,
        frame: &'c [u8],
        out: *mut u8,
    ) -> Call<'c> {
        assert!(packet.words.len() >= machine.program.words as usize);
        let packet: *mut Packet = packet;
        let machine: *mut Machine<'_> = machine;
        // SAFETY: both were made of references just now.
        let context = unsafe {
            Context {
                words: (*packet).words.as_mut_ptr(),
                registers: (*machine).externs.registers.as_ptr(),
                counters: (*machine).externs.counters.as_ptr(),
                tables: tables.as_mut_ptr(),
                machine: machine.cast(),
                packet,
                frame: frame.as_ptr(),
                length: frame.len() as u64,
                queue: std::ptr::null(),
                out,
                port: Context::METADATA_ARE_SET,
                at: 0,
                exhausted: 0,
                has_payload: 0,
                error: MaybeUninit::uninit(),
                parameters: MaybeUninit::uninit(),
                sink: MaybeUninit::uninit(),
            }
        };
        Call {
            code: self,
            context,
            borrowed: PhantomData,
        }
    }
}

/// Functions that run on one packet, one after the other.
pub(super) struct Call<'c> {
    code: &'c Code,
    context: Context,
    /// The context has the addresses of these.
    borrowed: PhantomData<(
        &'c mut Machine<'static>,
        &'c mut [Table],
        &'c mut Packet,
        &'c [u8],
    )>,
}

impl<'c> Call<'c> {
    /// Runs the function at `start`.
    #[inline]
    pub(super) fn run(&mut self, start: usize) {
        assert!(start < self.code.memory.len());
        // SAFETY: a function begins there (only `super::compile` gives starts), and the memory lives
        // as long as the code. It was made for this program: it reads and writes words below the
        // program's number of them, arrays and tables within their bounds, the frame within its
        // length, and `out` within the longest headers.
        unsafe {
            let function: extern "C" fn(*mut Context) =
                std::mem::transmute(self.code.memory.as_ptr().add(start));
            function(&raw mut self.context);
        }
    }

    /// Runs ingress or egress, whose loops may be too long.
    #[inline]
    pub(super) fn control(&mut self, start: usize) {
        self.run(start);
        if self.context.exhausted != 0 {
            // SAFETY: no code runs, and the packet is borrowed for this call alone.
            unsafe { (*self.context.packet).exhausted = true };
        }
    }

    /// Says by which port the packet arrives; it has no metadata yet.
    #[inline]
    pub(super) fn arrives(&mut self, port: u16) {
        self.context.port = port.into();
    }

    /// The packet's time in its queue.
    #[inline]
    pub(super) fn leaves(&mut self, queue: &'c QueueMetadata) {
        self.context.queue = queue;
    }

    /// Copies what follows the parsed headers to the packet.
    #[inline]
    pub(super) fn take_payload(&mut self) {
        // SAFETY: no code runs, and the packet is borrowed for this call alone.
        unsafe { take_payload(&mut self.context) };
    }

    /// Bytes parsed, or written.
    #[inline]
    pub(super) fn at(&self) -> usize {
        self.context.at as usize
    }
}

/// Sets the length of a buffer whose first `length` bytes code has written.
pub(super) fn written(out: &mut Vec<u8>, length: usize) {
    assert!(length <= out.capacity());
    // SAFETY: the capacity is checked, and the code writes every byte that it counts.
    unsafe { out.set_len(length) };
}
