use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::ahead::{self, KeyPlace};
use crate::error::LoadError;
use crate::load;
use crate::native::Native;
use crate::packet::Packet;
use crate::program::Program;
use crate::state::State;
use crate::trace::{Dictionary, Tracer};

/// The two ways to run a program. Both give the same frames, counters and registers, to the bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    /// Machine code, made when the program is loaded.
    Native,
    /// Instruction by instruction: the reference, which runs everywhere.
    Interpreter,
}

impl Default for Executor {
    /// Native code, in a build that makes it.
    fn default() -> Self {
        if cfg!(feature = "native") {
            Self::Native
        } else {
            Self::Interpreter
        }
    }
}

impl Executor {
    /// The name in options and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Interpreter => "interpreter",
        }
    }

    /// Whether this build has it. An error says why not.
    pub fn check(self) -> Result<(), &'static str> {
        if self == Self::Native && !cfg!(feature = "native") {
            return Err("this build makes no native code (it is without the feature `native`)");
        }
        Ok(())
    }
}

/// How a loaded program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execution {
    /// The executor.
    pub executor: Executor,
    /// Why the interpreter runs the program, although native code was asked for.
    pub reason: Option<String>,
    /// Bytes of machine code.
    pub code_bytes: usize,
    /// Places of the code that leave arithmetic to a function of the switch: divisions of more than 64 bits, products of
    /// more than 256, and most of what is done with numbers of more than 512.
    pub long_calls: usize,
}

impl fmt::Display for Execution {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.executor, &self.reason) {
            (Executor::Native, _) => {
                let kilobytes = self.code_bytes.div_ceil(1000);
                write!(formatter, "native code, {kilobytes} kB")?;
                match self.long_calls {
                    0 => Ok(()),
                    calls => write!(
                        formatter,
                        ", long numbers computed elsewhere in {calls} places"
                    ),
                }
            }
            (Executor::Interpreter, None) => formatter.write_str("interpreted, as asked"),
            (Executor::Interpreter, Some(reason)) => write!(formatter, "interpreted: {reason}"),
        }
    }
}

/// The settings that the target gives a program when it is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Seed of the program's random numbers.
    pub seed: u64,
    /// The egress port that means drop (511 in bmv2).
    pub drop_port: u16,
    /// The port that leads to controllers, if any: `PSA_PORT_CPU` of a program for PSA.
    pub cpu_port: Option<u16>,
    /// The executor wanted; where native code can't be made, the interpreter runs the program.
    pub executor: Executor,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            drop_port: 511,
            cpu_port: None,
            executor: Executor::default(),
        }
    }
}

/// A loaded program with its state.
#[derive(Debug)]
pub struct Pipeline {
    pub(crate) program: Program,
    pub(crate) state: State,
    pub(crate) table_names: HashMap<String, u32>,
    pub(crate) options: Options,
    artifact: Arc<str>,
    /// Boxed, because packets are moved often.
    #[expect(clippy::vec_box)]
    pool: Vec<Box<Packet>>,
    pub(crate) scratch: Vec<u8>,
    /// Memory of a frame that a program for PSA takes apart or puts together.
    pub(crate) spare: Vec<u8>,
    /// Steps that loops may still take.
    pub(crate) steps: u32,
    /// Where frames have the keys of tables that look ahead.
    pub(crate) key_places: Vec<KeyPlace>,
    /// Machine code, or why there is none.
    pub(crate) native: Result<Arc<Native>, String>,
    /// The program as packets with a record pass it, while any are wanted.
    pub(crate) tracer: Option<Box<Tracer>>,
}

/// Loop steps for one arrival with all its passes and copies: about as many instructions.
pub const STEPS: u32 = 1 << 20;

/// Packets kept for reuse; more than a full buffer of a port.
const POOL: usize = 4096;

/// Code, with the artifact and the drop port that it was made of.
struct Made {
    artifact: Arc<str>,
    drop_port: u16,
    code: Arc<Native>,
}

/// The code that was made last: the nodes of a network run one program, and so does a switch that is programmed anew.
static LAST: Mutex<Option<Made>> = Mutex::new(None);

/// Gives the machine code of a program. Nothing but the program and the drop port is in it, so that switches share it.
fn code(
    last: &Mutex<Option<Made>>,
    artifact: &Arc<str>,
    drop_port: u16,
    program: &Program,
    state: &State,
) -> Result<Arc<Native>, String> {
    let last = || last.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(made) = &*last()
        && made.drop_port == drop_port
        && made.artifact == *artifact
    {
        return Ok(Arc::clone(&made.code));
    }
    let code = Arc::new(Native::compile(program, &state.tables, drop_port)?);
    *last() = Some(Made {
        artifact: Arc::clone(artifact),
        drop_port,
        code: Arc::clone(&code),
    });
    Ok(code)
}

impl Pipeline {
    /// Loads the bmv2 JSON that p4c-bm2-ss makes of a v1model program. An error names the first
    /// construct that is malformed or not supported, and its place in the artifact.
    pub fn load(json: &str, options: Options) -> Result<Self, LoadError> {
        let program = load::load(json)?;
        let tables = program.tables.iter().enumerate();
        let named = tables.map(|(number, table)| (table.name.clone(), number as u32));
        let state = State::new(&program, options.seed);
        let artifact = Arc::from(json);
        let native = match options.executor {
            Executor::Native => code(&LAST, &artifact, options.drop_port, &program, &state),
            Executor::Interpreter => Err("the interpreter was asked for".into()),
        };
        let key_places = ahead::places(&program, &state.tables);
        Ok(Self {
            state,
            table_names: named.collect(),
            program,
            options,
            artifact,
            pool: Vec::new(),
            scratch: Vec::new(),
            spare: Vec::new(),
            key_places,
            steps: STEPS,
            native,
            tracer: None,
        })
    }

    /// The artifact that was loaded.
    #[must_use]
    pub fn artifact(&self) -> &Arc<str> {
        &self.artifact
    }

    /// Tells how the program runs.
    #[must_use]
    pub fn execution(&self) -> Execution {
        match &self.native {
            Ok(native) => Execution {
                executor: Executor::Native,
                reason: None,
                code_bytes: native.code_bytes(),
                long_calls: native.long_calls(),
            },
            Err(reason) => Execution {
                executor: Executor::Interpreter,
                reason: (self.options.executor == Executor::Native).then(|| reason.clone()),
                code_bytes: 0,
                long_calls: 0,
            },
        }
    }

    /// Sets the form of the program that packets with a record pass, made of [`Self::artifact`].
    pub fn set_tracer(&mut self, mut tracer: Option<Box<Tracer>>) {
        if let Some(tracer) = &mut tracer {
            tracer.take_algorithms(&self.program);
        }
        self.tracer = tracer;
    }

    /// The names to read records with, while packets can be traced.
    #[must_use]
    pub fn dictionary(&self) -> Option<&Arc<Dictionary>> {
        self.tracer.as_ref().map(|tracer| tracer.dictionary())
    }

    /// Gives loops all [`STEPS`] again, for packets that go on without an arrival.
    pub fn grant_steps(&mut self) {
        self.steps = STEPS;
    }

    /// A packet with nothing but its length.
    pub(crate) fn fresh(&mut self, frame: &[u8]) -> Box<Packet> {
        let mut packet = self.pooled();
        let (words, bytes) = (self.program.words, self.program.bytes);
        packet.reset(words as usize, bytes as usize, frame.len());
        packet
    }

    /// Memory of an earlier packet, not cleared.
    pub(crate) fn pooled(&mut self) -> Box<Packet> {
        self.pool.pop().unwrap_or_default()
    }

    /// Takes back a packet that is sent or dropped, to reuse its memory.
    #[inline]
    pub fn recycle(&mut self, packet: Box<Packet>) {
        if self.pool.len() < POOL {
            self.pool.push(packet);
        }
    }
}

#[cfg(all(test, feature = "native"))]
mod tests {
    use super::*;

    fn code_of(json: &str, drop_port: u16, last: &Mutex<Option<Made>>) -> Arc<Native> {
        let program = load::load(json).expect("a program");
        let state = State::new(&program, 1);
        code(last, &json.into(), drop_port, &program, &state).expect("code")
    }

    #[test]
    fn switches_of_one_program_share_its_code() {
        let one = include_str!("../tests/programs/copies.json");
        let other = include_str!("../tests/programs/entries.json");
        let last = Mutex::new(None);
        let first = code_of(one, 511, &last);
        assert!(Arc::ptr_eq(&first, &code_of(one, 511, &last)));
        for (json, drop_port) in [(one, 510), (other, 510), (one, 511)] {
            assert!(!Arc::ptr_eq(&first, &code_of(json, drop_port, &last)));
        }
    }
}
