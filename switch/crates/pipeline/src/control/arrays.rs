use crate::bits::{big_endian, magnitude};
use crate::error::{Code, Result, WriteError, invalid};
use crate::pipeline::Pipeline;
use crate::program::words_of;
use crate::state::externs::counter::Count;
use crate::state::externs::meter::{Meter, MeterRates};

/// Errors: `NotFound` for an unknown name, `OutOfRange` for an index beyond the end.
impl Pipeline {
    /// Names and sizes of the indirect counters.
    #[must_use]
    pub fn counters(&self) -> Vec<(String, usize)> {
        self.program
            .counters
            .iter()
            .map(|shape| (shape.name.clone(), shape.size as usize))
            .collect()
    }

    /// Names, sizes and widths in bits of the registers.
    #[must_use]
    pub fn registers(&self) -> Vec<(String, usize, u32)> {
        self.program
            .registers
            .iter()
            .map(|shape| (shape.name.clone(), shape.size as usize, shape.bits))
            .collect()
    }

    /// Names and sizes of the indirect meters.
    #[must_use]
    pub fn meters(&self) -> Vec<(String, usize)> {
        self.program
            .meters
            .iter()
            .map(|shape| (shape.name.clone(), shape.size as usize))
            .collect()
    }

    /// The number of cells of an indirect counter.
    pub fn counter_size(&self, name: &str) -> Result<usize> {
        Ok(self.state.externs.counters[self.counter_number(name)?]
            .cells()
            .len())
    }

    /// Packets and bytes of one cell.
    pub fn counter_read(&self, name: &str, index: usize) -> Result<Count> {
        let cells = self.state.externs.counters[self.counter_number(name)?].cells();
        cells
            .get(index)
            .copied()
            .ok_or_else(|| out_of_range("counter", name, index, cells.len()))
    }

    /// Packets and bytes of every cell.
    pub fn counter_read_all(&self, name: &str) -> Result<&[Count]> {
        Ok(self.state.externs.counters[self.counter_number(name)?].cells())
    }

    /// Packets and bytes of every cell of the counter at a place; empty where there is none.
    #[must_use]
    pub fn counter_cells(&self, number: usize) -> &[Count] {
        let counter = self.state.externs.counters.get(number);
        counter.map_or(&[], |counter| counter.cells())
    }

    /// Sets one cell.
    pub fn counter_write(&mut self, name: &str, index: usize, value: Count) -> Result<()> {
        let number = self.counter_number(name)?;
        let size = self.state.externs.counters[number].cells().len();
        match self.state.externs.counters[number].cell_mut(index) {
            Some(cell) => {
                *cell = value;
                Ok(())
            }
            None => Err(out_of_range("counter", name, index, size)),
        }
    }

    /// One register cell of any width, big-endian, in the whole bytes of its width.
    pub fn register_read(&self, name: &str, index: usize) -> Result<Vec<u8>> {
        let number = self.register_number(name)?;
        let register = &self.state.externs.registers[number];
        match register.cell_words(index as u64) {
            Some(words) => Ok(big_endian(words, self.program.registers[number].bits)),
            None => Err(out_of_range("register", name, index, register.size())),
        }
    }

    /// Every cell of a register, each as many words as its bits take, least significant first.
    pub fn register_words(&self, name: &str) -> Result<&[u64]> {
        Ok(self.state.externs.registers[self.register_number(name)?].words())
    }

    /// As [`register_words`](Self::register_words), of the register at a place; empty where there is none.
    #[must_use]
    pub fn register_cells(&self, number: usize) -> &[u64] {
        let register = self.state.externs.registers.get(number);
        register.map_or(&[], |register| register.words())
    }

    /// Sets one register cell to a big-endian value; `InvalidArgument` if it does not fit.
    pub fn register_write(&mut self, name: &str, index: usize, value: &[u8]) -> Result<()> {
        let number = self.register_number(name)?;
        let width = self.program.registers[number].bits;
        let register = &mut self.state.externs.registers[number];
        if index >= register.size() {
            return Err(out_of_range("register", name, index, register.size()));
        }
        let (value, bits) = magnitude(value);
        if bits > width as usize {
            return invalid(format!(
                "register {name}: a value of {bits} bits does not fit {width}"
            ));
        }
        register.write_from(index as u64, &words_of(value, width));
        Ok(())
    }

    /// Sets the rates of one meter and fills its buckets; `None`: every packet is green.
    /// `InvalidArgument` for a peak rate below the committed one.
    pub fn meter_configure(
        &mut self,
        name: &str,
        index: usize,
        rates: Option<MeterRates>,
    ) -> Result<()> {
        if let Some(rates) = rates
            && rates.peak_rate < rates.committed_rate
        {
            let (peak, committed) = (rates.peak_rate, rates.committed_rate);
            return invalid(format!(
                "meter {name}: peak rate {peak} is below committed rate {committed}"
            ));
        }
        let number = self.meter_number(name)?;
        let meter = &mut self.state.externs.meters[number];
        let size = meter.size();
        if meter.configure(index, rates) {
            Ok(())
        } else {
            Err(out_of_range("meter", name, index, size))
        }
    }

    /// The rates of one meter, if it is configured.
    pub fn meter_rates(&self, name: &str, index: usize) -> Result<Option<MeterRates>> {
        let meter = &self.state.externs.meters[self.meter_number(name)?];
        meter
            .rates(index)
            .ok_or_else(|| out_of_range("meter", name, index, meter.size()))
    }

    /// Packets and bytes that one meter has found green, yellow and red.
    pub fn meter_counts(&self, name: &str, index: usize) -> Result<[Count; 3]> {
        let meters = &self.state.externs.meters[self.meter_number(name)?];
        let meter = meters.meter(index);
        meter
            .map(Meter::counts)
            .ok_or_else(|| out_of_range("meter", name, index, meters.size()))
    }

    /// Sets what one meter has counted of each colour.
    pub fn meter_counts_write(
        &mut self,
        name: &str,
        index: usize,
        counts: [Count; 3],
    ) -> Result<()> {
        let number = self.meter_number(name)?;
        let meters = &mut self.state.externs.meters[number];
        let size = meters.size();
        let Some(meter) = meters.meter_mut(index) else {
            return Err(out_of_range("meter", name, index, size));
        };
        meter.set_counts(counts);
        Ok(())
    }

    /// An indirect counter's place, for those who read its cells often.
    pub fn counter_number(&self, name: &str) -> Result<usize> {
        let shapes = self.program.counters.iter();
        find("counter", name, shapes.map(|shape| &shape.name))
    }

    /// A register's place, for those who read its cells often.
    pub fn register_number(&self, name: &str) -> Result<usize> {
        let shapes = self.program.registers.iter();
        find("register", name, shapes.map(|shape| &shape.name))
    }

    fn meter_number(&self, name: &str) -> Result<usize> {
        let shapes = self.program.meters.iter();
        find("meter", name, shapes.map(|shape| &shape.name))
    }
}

fn find<'a>(what: &str, name: &str, mut names: impl Iterator<Item = &'a String>) -> Result<usize> {
    let found = names.position(|known| known == name);
    found.ok_or_else(|| WriteError::new(Code::NotFound, format!("no {what} is called {name}")))
}

fn out_of_range(what: &str, name: &str, index: usize, size: usize) -> WriteError {
    WriteError::new(
        Code::OutOfRange,
        format!("{what} {name}: index {index}; it has {size} cells"),
    )
}
