//! Stateful objects of a program: counters, meters, registers, the random number generator, and hashes.

pub(crate) mod counter;
pub(crate) mod hash;
pub(crate) mod log;
pub(crate) mod meter;
pub(crate) mod random;
pub(crate) mod register;

/// All stateful objects of a program.
#[derive(Debug)]
pub(crate) struct Externs {
    pub(crate) counters: Vec<counter::CounterArray>,
    pub(crate) registers: Vec<register::RegisterArray>,
    pub(crate) meters: Vec<meter::MeterArray>,
    pub(crate) random: random::Random,
    pub(crate) failed_assertions: u64,
    pub(crate) log: log::Log,
    seed: u64,
}

impl Externs {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            counters: Vec::new(),
            registers: Vec::new(),
            meters: Vec::new(),
            random: random::Random::new(seed),
            failed_assertions: 0,
            log: log::Log::default(),
            seed,
        }
    }

    /// As after loading.
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
