//! Headers of fixed length, read and written eight bytes at a time.

use crate::packet::Fit;
use crate::program::LayoutField;

/// How the fields of a header lie in words of eight bytes.
#[derive(Debug, Clone)]
pub(crate) struct ExtractPlan {
    /// Bytes of the header.
    length: usize,
    reads: Vec<Read>,
    writes: Vec<Write>,
}

/// Part of the header in a word of the packet: `(eight bytes from `start` on >> shift) & mask`.
#[derive(Debug, Clone, Copy)]
struct Read {
    /// Bytes from the start of the header; whole headers shorter than eight bytes are read with zeros after them.
    start: u16,
    /// Word of the instance.
    word: u16,
    shift: u8,
    /// Bits of the word before these, so that a field's word that is read in two parts is put together.
    join: u8,
    mask: u64,
    /// Sign bit of a signed field, or zero.
    sign: u64,
}

/// Part of a word of the packet in eight bytes of the header: `(word & mask) << left >> right`.
#[derive(Debug, Clone, Copy)]
struct Write {
    /// Number of the eight bytes.
    chunk: u16,
    word: u16,
    left: u8,
    right: u8,
    mask: u64,
}

/// The longest header that is read this way.
const LONGEST: usize = 4096;

impl ExtractPlan {
    /// A plan for these fields, none of them a varbit; none if they make no whole number of bytes.
    pub(crate) fn new(fields: &[LayoutField]) -> Option<Self> {
        let bits: u32 = fields.iter().map(|field| field.bits).sum();
        let length = bits as usize / 8;
        if !bits.is_multiple_of(8) || length > LONGEST {
            return None;
        }
        let mut plan = Self {
            length,
            reads: Vec::new(),
            writes: Vec::new(),
        };
        let mut offset = 0;
        for field in fields {
            let (first, words) = field.slot.words()?;
            // The most significant word comes first, and has what the others leave.
            for index in (0..words).rev() {
                let width = if index + 1 == words {
                    field.bits - index * 64
                } else {
                    64
                };
                let fit = (index + 1 == words).then_some(field.fit);
                plan.add((first + index) as u16, offset, width, fit);
                offset += width;
            }
        }
        Some(plan)
    }

    /// Adds `width` bits at bit `offset` of the header, which are the low bits of `word`.
    fn add(&mut self, word: u16, offset: u32, width: u32, fit: Option<Fit>) {
        let sign = fit.map_or(0, Fit::sign);
        // Reading: from where eight bytes still are within the header.
        let start = (offset as usize / 8).min(self.length.saturating_sub(8));
        let skip = offset - start as u32 * 8;
        if skip + width <= 64 {
            self.reads.push(Read {
                start: start as u16,
                word,
                shift: (64 - skip - width) as u8,
                join: 0,
                mask: crate::bits::mask(width),
                sign,
            });
        } else {
            // More than seven bytes that begin within one: the upper part up to a byte's end, then the rest.
            let upper = 8 - offset % 8;
            let lower = width - upper;
            self.reads.push(Read {
                start: start as u16,
                word,
                shift: (64 - skip - upper) as u8,
                join: 0,
                mask: crate::bits::mask(upper),
                sign: 0,
            });
            let next = ((offset + upper) as usize / 8).min(self.length.saturating_sub(8));
            let skip = offset + upper - next as u32 * 8;
            self.reads.push(Read {
                start: next as u16,
                word,
                shift: (64 - skip - lower) as u8,
                join: lower as u8,
                mask: crate::bits::mask(lower),
                sign,
            });
        }
        let (chunk, place) = (offset / 64, offset % 64);
        let mask = crate::bits::mask(width);
        if place + width <= 64 {
            self.writes.push(Write {
                chunk: chunk as u16,
                word,
                left: (64 - place - width) as u8,
                right: 0,
                mask,
            });
        } else {
            let over = place + width - 64;
            self.writes.push(Write {
                chunk: chunk as u16,
                word,
                left: 0,
                right: over as u8,
                mask,
            });
            self.writes.push(Write {
                chunk: chunk as u16 + 1,
                word,
                left: (64 - over) as u8,
                right: 0,
                mask: crate::bits::mask(over),
            });
        }
    }

    /// Reads the header into the words of an instance; `data` has the header's length, or more.
    #[inline]
    pub(crate) fn read(&self, data: &[u8], words: &mut [u64]) {
        let mut short = [0; 8];
        let data = if self.length < 8 {
            for (to, from) in short.iter_mut().zip(data.iter().take(self.length)) {
                *to = *from;
            }
            &short[..]
        } else {
            data
        };
        for read in &self.reads {
            let Some(bytes) = data
                .get(usize::from(read.start)..)
                .and_then(<[u8]>::first_chunk::<8>)
            else {
                return;
            };
            let Some(word) = words.get_mut(usize::from(read.word)) else {
                return;
            };
            let value = u64::from_be_bytes(*bytes) >> (read.shift & 63) & read.mask;
            *word = if read.join > 0 {
                let value = *word << (read.join & 63) | value;
                (value ^ read.sign).wrapping_sub(read.sign)
            } else {
                (value ^ read.sign).wrapping_sub(read.sign)
            };
        }
    }

    /// Appends the header.
    #[inline]
    pub(crate) fn write(&self, words: &[u64], out: &mut Vec<u8>) {
        let mut chunk = 0;
        let mut bytes = 0u64;
        let end = out.len() + self.length;
        for write in &self.writes {
            if write.chunk != chunk {
                out.extend_from_slice(&bytes.to_be_bytes());
                chunk = write.chunk;
                bytes = 0;
            }
            let word = words.get(usize::from(write.word)).copied().unwrap_or(0);
            bytes |= (word & write.mask) << (write.left & 63) >> (write.right & 63);
        }
        out.extend_from_slice(&bytes.to_be_bytes());
        out.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::Slot;

    proptest! {
        /// What a plan reads is what the bits of the header say, and writing it gives the header again.
        #[test]
        fn fields_are_the_bits_of_the_header(
            widths in prop::collection::vec((prop_oneof![1u32..=64, 1u32..=16, 65u32..=400], any::<bool>()), 1..12),
            data in prop::collection::vec(any::<u8>(), 700),
        ) {
            let mut widths = widths;
            let total: u32 = widths.iter().map(|(bits, _)| bits).sum();
            if !total.is_multiple_of(8) {
                widths.push((8 - total % 8, false));
            }
            let mut word = 1;
            let mut fields = Vec::new();
            for &(bits, signed) in &widths {
                let words = bits.div_ceil(64);
                let slot = if words == 1 { Slot::Word { word } } else { Slot::Wide { word, words } };
                fields.push(LayoutField { slot, bits, fit: Fit::new((bits - 1) % 64 + 1, signed) });
                word += words;
            }
            let plan = ExtractPlan::new(&fields).unwrap();
            let mut words = vec![u64::MAX; word as usize];
            let header = &data[..plan.length];
            plan.read(header, &mut words);
            let mut offset = 0;
            for field in &fields {
                let (first, count) = field.slot.words().unwrap();
                for index in (0..count).rev() {
                    let width = if index + 1 == count { field.bits - index * 64 } else { 64 };
                    let value = crate::bits::read(header, offset, width);
                    let expected = if index + 1 == count { field.fit.word(value) } else { value };
                    prop_assert_eq!(words[(first + index) as usize], expected);
                    offset += width as usize;
                }
            }
            let mut out = vec![1, 2, 3];
            plan.write(&words, &mut out);
            prop_assert_eq!(&out[3..], header);
        }
    }
}
