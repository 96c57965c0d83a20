use crate::bits::mask;
use crate::program::{RegisterShape, fit};

#[derive(Debug)]
pub(crate) struct RegisterArray {
    bits: u32,
    size: usize,
    /// The bits of a narrow cell.
    mask: u64,
    /// As many words per cell as its bits take, least significant first.
    words: Vec<u64>,
    /// Where the words are, for native code: they stay there.
    pub(crate) address: usize,
}

impl RegisterArray {
    pub(crate) fn new(shape: &RegisterShape) -> Self {
        let size = shape.size as usize;
        let mut words = vec![0; size * words_per_cell(shape.bits)];
        Self {
            bits: shape.bits,
            size,
            mask: mask(shape.bits),
            address: words.as_mut_ptr().expose_provenance(),
            words,
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The words of all cells.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// A cell of at most 64 bits; zero beyond the end (v1model leaves that undefined).
    pub(crate) fn read_word(&self, index: u64) -> u64 {
        usize::try_from(index)
            .ok()
            .and_then(|index| self.words.get(index))
            .copied()
            .unwrap_or(0)
    }

    /// Writes a cell of at most 64 bits; nothing beyond the end.
    pub(crate) fn write_word(&mut self, index: u64, value: u64) {
        if let Some(cell) = usize::try_from(index)
            .ok()
            .and_then(|index| self.words.get_mut(index))
        {
            *cell = value & self.mask;
        }
    }

    /// A cell as words, least significant first.
    pub(crate) fn cell_words(&self, index: u64) -> Option<&[u64]> {
        let per_cell = words_per_cell(self.bits);
        let first = usize::try_from(index)
            .ok()
            .filter(|index| *index < self.size)?
            * per_cell;
        self.words.get(first..first + per_cell)
    }

    /// Copies a cell of any width into as many words; zero beyond the end.
    pub(crate) fn read_to(&self, index: u64, to: &mut [u64]) {
        let cell = self.cell_words(index).unwrap_or_default();
        let (kept, rest) = to.split_at_mut(cell.len().min(to.len()));
        kept.copy_from_slice(&cell[..kept.len()]);
        rest.fill(0);
    }

    /// Writes a cell of any width, cut to it; nothing beyond the end.
    pub(crate) fn write_from(&mut self, index: u64, from: &[u64]) {
        let per_cell = words_per_cell(self.bits);
        let Some(first) = usize::try_from(index)
            .ok()
            .filter(|index| *index < self.size)
        else {
            return;
        };
        let cell = &mut self.words[first * per_cell..(first + 1) * per_cell];
        for (to, from) in cell
            .iter_mut()
            .zip(from.iter().chain(std::iter::repeat(&0)))
        {
            *to = *from;
        }
        fit(cell, self.bits, false);
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }
}

fn words_per_cell(bits: u32) -> usize {
    bits.div_ceil(64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(size: u32, bits: u32) -> RegisterArray {
        let name = "r".into();
        RegisterArray::new(&RegisterShape { name, size, bits })
    }

    #[test]
    fn beyond_the_end_reads_zero_and_writes_nothing() {
        for bits in [9, 64, 100, 128] {
            let mut register = self::register(4, bits);
            register.write_from(3, &[u64::MAX; 2]);
            register.write_from(4, &[7]);
            register.write_from(u64::MAX, &[7]);
            let mut cell = [9; 2];
            register.read_to(3, &mut cell);
            let upper = crate::bits::mask(bits.saturating_sub(64));
            assert_eq!(cell, [crate::bits::mask(bits), upper]);
            for beyond in [4, u64::MAX] {
                register.read_to(beyond, &mut cell);
                assert_eq!(cell, [0; 2]);
            }
        }
    }

    #[test]
    fn cells_of_many_words() {
        let mut register = self::register(3, 200);
        register.write_from(1, &[1, 2, 3, u64::MAX]);
        let mut cell = [9; 5];
        register.read_to(1, &mut cell);
        assert_eq!(cell, [1, 2, 3, 0xff, 0]);
        for other in [0, 2, 3] {
            register.read_to(other, &mut cell);
            assert_eq!(cell, [0; 5]);
        }
        register.write_from(1, &[7]);
        assert_eq!(register.cell_words(1), Some(&[7, 0, 0, 0][..]));
        assert_eq!(register.cell_words(3), None);
    }
}
