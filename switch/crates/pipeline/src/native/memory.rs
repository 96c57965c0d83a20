//! The border between native code and the switch: the context that code is called with, the functions
//! it calls back, and the memory it lies in. All `unsafe` of this crate is here.
#![allow(unsafe_code)]

use std::mem::offset_of;

use memmap2::{Mmap, MmapMut};

use crate::machine::{Machine, write_header};
use crate::packet::Packet;
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
    steps: *mut u32,
    received: u64,
    frame: *const u8,
    length: u64,
    out: *mut u8,
    /// Bytes parsed, or written.
    at: u64,
    error: u64,
    exhausted: u64,
    parameters: *const u64,
    /// Where writes beyond the end of an array go.
    sink: [u64; 2],
    machine: *mut Machine<'static>,
    packet: *mut Packet,
}

macro_rules! places {
    ($($name:ident $field:ident),*) => {
        $(pub(super) const $name: i32 = offset_of!(Context, $field) as i32;)*
    };
}

impl Context {
    places!(
        WORDS words, REGISTERS registers, COUNTERS counters, TABLES tables, STEPS steps,
        RECEIVED received, FRAME frame, LENGTH length, OUT out, AT at, ERROR error,
        EXHAUSTED exhausted, PARAMETERS parameters, SINK sink
    );
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
}

impl Callback {
    pub(super) fn address(self) -> usize {
        let function: *const () = match self {
            Self::Perform => perform as *const (),
            Self::Wide => wide as *const (),
            Self::Calculate => calculate as *const (),
            Self::Apply => apply as *const (),
            Self::Search => search as *const (),
            Self::Parse => parse as *const (),
            Self::Select => select as *const (),
            Self::Append => append as *const (),
        };
        function.expose_provenance()
    }
}

/// The machine and the packet of a context.
///
/// # Safety
///
/// `context` is what [`Code::run`] gave to the code that calls back. The code holds no reference,
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
    unsafe { (*context).parameters = parameters };
    outcome.into()
}

/// Searches a table: gives one more than the number of the entry found, or zero.
extern "C" fn search(context: *mut Context, number: u64, key: *const u64) -> u64 {
    // SAFETY: as in `apply`; nothing changes the table meanwhile.
    let table = unsafe { &*(*context).tables.add(number as usize) };
    // SAFETY: as in `apply`.
    let key = unsafe { std::slice::from_raw_parts(key, table.pieces().1) };
    table.search(key).map_or(0, |number| u64::from(number) + 1)
}

/// Performs an operation of a parser state; 1 if it ends in an error.
extern "C" fn parse(context: *mut Context, state: u64, operation: u64) -> u64 {
    // SAFETY: called by code with its own context.
    let (machine, packet) = unsafe { parts(context) };
    let operation = &machine.program.states[state as usize].operations[operation as usize];
    // SAFETY: frame and length are those of the slice that [`Code::run`] was given.
    let frame = unsafe { std::slice::from_raw_parts((*context).frame, (*context).length as usize) };
    // SAFETY: the context of the code that calls.
    let mut at = unsafe { (*context).at } as usize;
    let result = machine.parse_one(operation, packet, frame, &mut at);
    // SAFETY: the context of the code that calls.
    unsafe {
        (*context).at = at as u64;
        (*context).error = result.err().unwrap_or(0);
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
    let header: HeaderSpan = machine.program.emitted[emitted as usize];
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

/// The results of a run besides the packet.
pub(super) struct Ran {
    pub(super) result: u64,
    pub(super) at: u64,
    pub(super) error: u64,
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

    /// Runs the function at `start` on a packet.
    pub(super) fn run(
        &self,
        start: usize,
        machine: &mut Machine<'_>,
        tables: &mut [Table],
        packet: &mut Packet,
        frame: &[u8],
        out: *mut u8,
    ) -> Ran {
        assert!(start < self.memory.len() && packet.words.len() >= machine.program.words as usize);
        let packet: *mut Packet = packet;
        let machine: *mut Machine<'_> = machine;
        // SAFETY: both were made of references just now.
        let mut context = unsafe {
            Context {
                words: (*packet).words.as_mut_ptr(),
                registers: (*machine).externs.registers.as_ptr(),
                counters: (*machine).externs.counters.as_ptr(),
                tables: tables.as_mut_ptr(),
                steps: &raw mut *(*machine).steps,
                received: u64::from((*packet).received_length),
                frame: frame.as_ptr(),
                length: frame.len() as u64,
                out,
                at: 0,
                error: 0,
                exhausted: 0,
                parameters: std::ptr::null(),
                sink: [0; 2],
                machine: machine.cast(),
                packet,
            }
        };
        // SAFETY: a function begins there (only `super::compile` gives starts), and the memory lives
        // as long as `self`. It was made for this program: it reads and writes words below the
        // program's number of them, arrays and tables within their bounds, the frame within its
        // length, and `out` within the longest headers.
        let result = unsafe {
            let function: extern "C" fn(*mut Context) -> u64 =
                std::mem::transmute(self.memory.as_ptr().add(start));
            function(&raw mut context)
        };
        if context.exhausted != 0 {
            // SAFETY: the code has ended; this is the only reference.
            unsafe { (*packet).exhausted = true };
        }
        Ran {
            result,
            at: context.at,
            error: context.error,
        }
    }

    /// Runs the function at `start`, which clears words.
    pub(super) fn clear(&self, start: usize, words: &mut [u64], needed: usize) {
        assert!(start < self.memory.len() && words.len() >= needed);
        let words = words.as_mut_ptr();
        // SAFETY: as in `run`; it writes only words below `needed`, and reads its argument, which
        // is the first field of a context.
        unsafe {
            let function: extern "C" fn(*const *mut u64) -> u64 =
                std::mem::transmute(self.memory.as_ptr().add(start));
            function(&raw const words);
        }
    }
}

/// Sets the length of a buffer whose first `length` bytes code has written.
pub(super) fn written(out: &mut Vec<u8>, length: usize) {
    assert!(length <= out.capacity());
    // SAFETY: the capacity is checked, and the code writes every byte that it counts.
    unsafe { out.set_len(length) };
}
