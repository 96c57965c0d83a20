//! Indirect counters. Both packets and bytes are counted for every counter type, as in bmv2.

use crate::program::CounterShape;

/// Packets, and bytes of whole Ethernet frames as received.
pub type Count = (u64, u64);

const _: () = assert!(size_of::<Count>() == CounterShape::CELL);

#[derive(Debug)]
pub(crate) struct CounterArray {
    cells: Vec<Count>,
    /// Where the cells are, for native code: they stay there.
    pub(crate) address: usize,
}

impl CounterArray {
    pub(crate) fn new(shape: &CounterShape) -> Self {
        let mut cells = vec![(0, 0); shape.size as usize];
        Self {
            address: cells.as_mut_ptr().expose_provenance(),
            cells,
        }
    }

    /// An index beyond the end counts nothing.
    pub(crate) fn count(&mut self, index: u64, bytes: u32) {
        if let Some((packets, total)) = usize::try_from(index)
            .ok()
            .and_then(|index| self.cells.get_mut(index))
        {
            *packets = packets.wrapping_add(1);
            *total = total.wrapping_add(u64::from(bytes));
        }
    }

    pub(crate) fn cells(&self) -> &[Count] {
        &self.cells
    }

    pub(crate) fn cell_mut(&mut self, index: usize) -> Option<&mut Count> {
        self.cells.get_mut(index)
    }

    pub(crate) fn clear(&mut self) {
        self.cells.fill((0, 0));
    }
}
