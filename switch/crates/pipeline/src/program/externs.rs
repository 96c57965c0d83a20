//! Counters, registers and meters as the program declares them.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Packets,
    Bytes,
}

#[derive(Debug)]
pub(crate) struct CounterShape {
    pub(crate) name: String,
    pub(crate) size: u32,
}

#[derive(Debug)]
pub(crate) struct RegisterShape {
    pub(crate) name: String,
    pub(crate) size: u32,
    /// Width of a cell.
    pub(crate) bits: u32,
}

#[derive(Debug)]
pub(crate) struct MeterShape {
    pub(crate) name: String,
    pub(crate) size: u32,
    pub(crate) unit: Unit,
}

impl CounterShape {
    /// Bytes of memory per cell.
    pub(crate) const CELL: usize = 16;
}

impl RegisterShape {
    /// Bytes of memory per cell of a width.
    pub(crate) fn cell(bits: u32) -> usize {
        bits.div_ceil(64) as usize * 8
    }
}

impl MeterShape {
    /// Bytes of memory per cell.
    pub(crate) const CELL: usize = 144;
}
