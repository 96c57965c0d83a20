//! Registers.

use crate::bits::mask_double;

#[derive(Debug)]
pub(crate) struct RegisterArray {
    pub(crate) name: String,
    pub(crate) bits: u32,
    size: usize,
    mask: u128,
    /// One word per cell, or two (low first) if cells are wider than 64 bits.
    words: Vec<u64>,
}

impl RegisterArray {
    /// Bytes of memory per cell.
    pub(crate) fn cell(bits: u32) -> usize {
        words_per_cell(bits) * size_of::<u64>()
    }

    pub(crate) fn new(name: String, size: u32, bits: u32) -> Self {
        let size = size as usize;
        let words = vec![0; size * words_per_cell(bits)];
        Self {
            name,
            bits,
            size,
            mask: mask_double(bits),
            words,
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
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
            *cell = value & self.mask as u64;
        }
    }

    /// A cell of any width; zero beyond the end.
    pub(crate) fn read(&self, index: u64) -> u128 {
        if self.bits <= 64 {
            return self.read_word(index).into();
        }
        match usize::try_from(index) {
            Ok(index) if index < self.size => {
                u128::from(self.words[index * 2 + 1]) << 64 | u128::from(self.words[index * 2])
            }
            _ => 0,
        }
    }

    /// Writes a cell of any width; nothing beyond the end.
    pub(crate) fn write(&mut self, index: u64, value: u128) {
        if self.bits <= 64 {
            return self.write_word(index, value as u64);
        }
        if let Ok(index) = usize::try_from(index)
            && index < self.size
        {
            let value = value & self.mask;
            self.words[index * 2] = value as u64;
            self.words[index * 2 + 1] = (value >> 64) as u64;
        }
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }
}

fn words_per_cell(bits: u32) -> usize {
    if bits > 64 { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_end_reads_zero_and_writes_nothing() {
        for bits in [9, 64, 100] {
            let mut register = RegisterArray::new("r".into(), 4, bits);
            register.write(3, u128::MAX);
            register.write(4, 7);
            register.write(u64::MAX, 7);
            assert_eq!(register.read(3), mask_double(bits));
            assert_eq!((register.read(4), register.read(u64::MAX)), (0, 0));
        }
    }
}
