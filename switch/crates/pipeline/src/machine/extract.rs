//! Runs the plans for headers of fixed length.

use crate::program::{ExtractPlan, FieldRead};

impl ExtractPlan {
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
        let mut from = 0;
        for window in &self.windows {
            let bytes = eight(data, window.start);
            let end = window.end as usize;
            for read in &self.reads[from..end] {
                words[usize::from(read.word)] = read.of(bytes);
            }
            from = end;
        }
        for special in &self.special {
            let part = special.read.of(eight(data, special.start));
            if let Some(word) = words.get_mut(usize::from(special.read.word)) {
                let upper = if special.join > 0 {
                    *word << (special.join & 63)
                } else {
                    0
                };
                *word = ((upper | part) ^ special.sign).wrapping_sub(special.sign);
            }
        }
    }

    #[inline]
    pub(crate) fn append(&self, words: &[u64], out: &mut Vec<u8>) {
        let length = out.len() + self.length;
        let mut from = 0;
        for &end in &self.chunks {
            let end = end as usize;
            let bytes = self.writes[from..end].iter().fold(0, |bytes, write| {
                let word = words[usize::from(write.word)];
                bytes | word << (write.up & 63) >> (write.down & 63)
            });
            out.extend_from_slice(&bytes.to_be_bytes());
            from = end;
        }
        out.truncate(length);
    }
}

impl FieldRead {
    #[inline(always)]
    fn of(self, bytes: u64) -> u64 {
        bytes << (self.left & 63) >> (self.right & 63)
    }
}

/// Eight bytes from `start` on; the caller has checked the length.
#[inline(always)]
fn eight(data: &[u8], start: u32) -> u64 {
    let bytes = data
        .get(start as usize..)
        .and_then(<[u8]>::first_chunk::<8>);
    bytes.map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::program::{Fit, LayoutField, Slot};

    proptest! {
        /// A plan reads the bits of the header, and writing the fields gives the header again.
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
            plan.append(&words, &mut out);
            prop_assert_eq!(&out[3..], header);
        }
    }
}
