//! Stateful objects of a program: counters, meters, registers, value sets, random numbers, the log.

pub(crate) mod counter;
pub(crate) mod log;
pub(crate) mod meter;
pub(crate) mod random;
pub(crate) mod register;

use crate::program::{MaskedWords, Program};

#[derive(Debug)]
pub(crate) struct Externs {
    pub(crate) counters: Vec<counter::CounterArray>,
    pub(crate) registers: Vec<register::RegisterArray>,
    pub(crate) meters: Vec<meter::MeterArray>,
    pub(crate) value_sets: Vec<Vec<MaskedWords>>,
    pub(crate) random: random::Random,
    pub(crate) failed_assertions: u64,
    pub(crate) log: log::Log,
    seed: u64,
}

impl Externs {
    pub(crate) fn new(program: &Program, seed: u64) -> Self {
        let counters = program.counters.iter().map(counter::CounterArray::new);
        let registers = program.registers.iter().map(register::RegisterArray::new);
        let meters = program.meters.iter().map(meter::MeterArray::new);
        Self {
            counters: counters.collect(),
            registers: registers.collect(),
            meters: meters.collect(),
            value_sets: vec![Vec::new(); program.value_sets.len()],
            random: random::Random::new(seed),
            failed_assertions: 0,
            log: log::Log::default(),
            seed,
        }
    }

    /// Clears all but the value sets.
    pub(crate) fn clear(&mut self) {
        self.counters
            .iter_mut()
            .for_each(counter::CounterArray::clear);
        self.registers
            .iter_mut()
            .for_each(register::RegisterArray::clear);
        self.meters.iter_mut().for_each(meter::MeterArray::clear);
        self.random = random::Random::new(self.seed);
        self.failed_assertions = 0;
    }
}
