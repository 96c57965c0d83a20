//! Big-endian bit strings: how fields lie in a packet (network bit order, RFC 791 appendix B).

/// Reads `width` bits (at most 64) from bit `offset` of `data`; bits beyond its end read as zero.
pub(crate) fn read(data: &[u8], offset: usize, width: u32) -> u64 {
    if width == 0 {
        return 0;
    }
    let first = offset / 8;
    let skip = (offset % 8) as u32;
    if skip + width <= 64
        && let Some(chunk) = data
            .get(first..first + 8)
            .and_then(|bytes| <[u8; 8]>::try_from(bytes).ok())
    {
        return (u64::from_be_bytes(chunk) << skip) >> (64 - width);
    }
    let needed = ((skip + width) as usize).div_ceil(8);
    let mut accumulator: u128 = 0;
    for index in 0..needed {
        accumulator = accumulator << 8 | u128::from(data.get(first + index).copied().unwrap_or(0));
    }
    let excess = needed as u32 * 8 - skip - width;
    (accumulator >> excess) as u64 & mask(width)
}

pub(crate) const fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

/// The low `bits` of a number given least significant word first.
pub(crate) fn big_endian(words: &[u64], bits: u32) -> Vec<u8> {
    let length = bits.div_ceil(8) as usize;
    let bytes = words.iter().rev().flat_map(|word| word.to_be_bytes());
    let mut bytes: Vec<u8> = bytes.skip(words.len() * 8 - length).collect();
    if let Some(first) = bytes.first_mut()
        && !bits.is_multiple_of(8)
    {
        // A signed field is kept sign-extended.
        *first &= mask(bits % 8) as u8;
    }
    bytes
}

/// A big-endian number without its leading zero bytes, and the number of its bits.
pub(crate) fn magnitude(bytes: &[u8]) -> (&[u8], usize) {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let bytes = &bytes[zeros..];
    let unused = bytes.first().map_or(0, |first| first.leading_zeros());
    (bytes, bytes.len() * 8 - unused as usize)
}

/// Appends bit strings to a byte buffer, first bit into the most significant place.
pub(crate) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// The last `pending` bits, at most 64, that are not in `out` yet, right-aligned.
    accumulator: u64,
    pending: u32,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self {
            out,
            accumulator: 0,
            pending: 0,
        }
    }

    /// Appends the low `width` bits (at most 64) of `value`.
    #[inline]
    pub(crate) fn push(&mut self, value: u64, width: u32) {
        let total = self.pending.wrapping_add(width);
        if total < 64 {
            // So `width` is below 64, and no shift can overflow.
            let kept = self.accumulator.wrapping_shl(width);
            self.accumulator = kept | value & !u64::MAX.wrapping_shl(width);
            self.pending = total;
        } else {
            self.push_over(value, width);
        }
    }

    /// Appends a value that fills the accumulator or does not fit into it.
    fn push_over(&mut self, value: u64, width: u32) {
        self.flush();
        if self.pending + width > 64 {
            let low = self.pending + width - 64;
            self.push_over(value >> low, width - low);
            return self.push(value, low);
        }
        let value = value & mask(width);
        self.accumulator = if width < 64 {
            self.accumulator << width | value
        } else {
            value
        };
        self.pending += width;
    }

    /// Moves whole bytes to the buffer; fewer than eight bits stay.
    fn flush(&mut self) {
        if self.pending >= 8 {
            // Left-aligned, to write its first bytes; a store of all eight is cheaper than a copy.
            let bytes = (self.accumulator << (64 - self.pending)).to_be_bytes();
            let end = self.out.len() + (self.pending / 8) as usize;
            self.out.extend_from_slice(&bytes);
            self.out.truncate(end);
            self.pending %= 8;
            self.accumulator &= mask(self.pending);
        }
    }

    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        self.flush();
        if self.pending == 0 {
            self.out.extend_from_slice(bytes);
        } else {
            for &byte in bytes {
                self.push(u64::from(byte), 8);
            }
        }
    }

    /// Fills the last byte with zero bits.
    pub(crate) fn finish(mut self) {
        self.flush();
        if self.pending > 0 {
            let missing = 8 - self.pending;
            self.push(0, missing);
            self.flush();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_have_the_width_of_their_fields() {
        assert_eq!(big_endian(&[0x1234], 9), [0x00, 0x34]);
        assert_eq!(big_endian(&[u64::MAX], 9), [0x01, 0xff]);
        assert_eq!(big_endian(&[7], 8), [7]);
        assert_eq!(
            big_endian(&[0x0102_0304_0506_0708, 0xa], 68),
            [0xa, 1, 2, 3, 4, 5, 6, 7, 8]
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            fields in prop::collection::vec((any::<u64>(), prop_oneof![1u32..=64, Just(64)], any::<bool>()), 0..20),
        ) {
            let mut bytes = Vec::new();
            let mut writer = Writer::new(&mut bytes);
            for &(value, width, as_bytes) in &fields {
                if as_bytes && width == 64 {
                    writer.push_bytes(&value.to_be_bytes());
                } else {
                    writer.push(value, width);
                }
            }
            writer.finish();
            let mut offset = 0;
            for (value, width, _) in fields {
                prop_assert_eq!(read(&bytes, offset, width), value & mask(width));
                offset += width as usize;
            }
            prop_assert_eq!(bytes.len(), offset.div_ceil(8));
        }
    }
}
