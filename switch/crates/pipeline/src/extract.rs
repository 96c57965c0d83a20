//! Headers of fixed length, read and written eight bytes at a time.

use crate::program::LayoutField;

/// How the fields of a header lie in words of eight bytes.
#[derive(Debug, Clone)]
pub(crate) struct ExtractPlan {
    /// Bytes of the header.
    length: usize,
    windows: Vec<Window>,
    reads: Vec<Read>,
    /// Parts of fields that no eight bytes hold, and signed fields; after the others.
    special: Vec<SpecialRead>,
    writes: Vec<Write>,
    /// Where the writes of each eight bytes end.
    chunks: Vec<u32>,
}

/// Eight bytes of the header and the reads from them.
#[derive(Debug, Clone, Copy)]
struct Window {
    /// Bytes from the start of the header; whole headers shorter than eight bytes are read with zeros after them.
    start: u32,
    /// Its reads: from the end of the window's before on, up to this one.
    end: u32,
}

/// Part of a window that is a word of the instance: `(eight bytes << left) >> right`.
#[derive(Debug, Clone, Copy)]
struct Read {
    word: u16,
    left: u8,
    right: u8,
}

/// Part of a window that is part of a word, or signed.
#[derive(Debug, Clone, Copy)]
struct SpecialRead {
    start: u32,
    read: Read,
    /// Bits the word is moved up by before this part is added.
    join: u8,
    /// Sign bit of a signed field, or zero.
    sign: u64,
}

/// Part of eight bytes of the header that is a word of the instance: `(word << up) >> down`, the upper bits cut off.
#[derive(Debug, Clone, Copy)]
struct Write {
    word: u16,
    up: u8,
    down: u8,
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
            windows: Vec::new(),
            reads: Vec::new(),
            special: Vec::new(),
            writes: Vec::new(),
            chunks: Vec::new(),
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
                let sign = if index + 1 == words {
                    field.fit.sign()
                } else {
                    0
                };
                plan.add((first + index) as u16, offset, width, sign);
                offset += width;
            }
        }
        Some(plan)
    }

    /// The first of the eight bytes that bits from `offset` on are read from: as many as the header has lie within it.
    fn start(&self, offset: u32) -> u32 {
        (offset / 8).min(self.length.saturating_sub(8) as u32)
    }

    /// Adds `width` bits at bit `offset` of the header, which are the low bits of `word`.
    fn add(&mut self, word: u16, offset: u32, width: u32, sign: u64) {
        let read = |start: u32, offset: u32, width: u32| {
            let skip = offset - start * 8;
            Read {
                word,
                left: skip as u8,
                right: (64 - width) as u8,
            }
        };
        let start = self.start(offset);
        // Where the window of the read before holds this field too, one load does for both.
        let shared = self
            .windows
            .last()
            .map(|window| window.start)
            .filter(|start| offset + width - start * 8 <= 64);
        if offset + width - start * 8 > 64 {
            // More than seven bytes that begin within one: the upper part up to a byte's end, then the rest.
            let upper = 8 - offset % 8;
            let lower = width - upper;
            self.special.push(SpecialRead {
                start,
                read: read(start, offset, upper),
                join: 0,
                sign: 0,
            });
            let start = self.start(offset + upper);
            self.special.push(SpecialRead {
                start,
                read: read(start, offset + upper, lower),
                join: lower as u8,
                sign,
            });
        } else if sign != 0 {
            self.special.push(SpecialRead {
                start,
                read: read(start, offset, width),
                join: 0,
                sign,
            });
        } else {
            let start = shared.unwrap_or(start);
            if shared.is_none() {
                self.windows.push(Window { start, end: 0 });
            }
            self.reads.push(read(start, offset, width));
            if let Some(window) = self.windows.last_mut() {
                window.end = self.reads.len() as u32;
            }
        }
        // Writing: from the left edge of a word to the place of the field.
        let place = offset % 64;
        self.write(word, offset / 64, (64 - width) as u8, place as u8);
        if place + width > 64 {
            // What the first eight bytes do not hold.
            let over = place + width - 64;
            self.write(word, offset / 64 + 1, (64 - over) as u8, 0);
        }
    }

    fn write(&mut self, word: u16, chunk: u32, up: u8, down: u8) {
        self.writes.push(Write { word, up, down });
        let end = self.writes.len() as u32;
        self.chunks.resize(chunk as usize + 1, end);
        if let Some(last) = self.chunks.last_mut() {
            *last = end;
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

    /// Appends the header.
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

impl Read {
    #[inline(always)]
    fn of(self, bytes: u64) -> u64 {
        bytes << (self.left & 63) >> (self.right & 63)
    }
}

/// Eight bytes from `start` on, which the caller has seen to be there.
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
    use crate::packet::{Fit, Slot};

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
            plan.append(&words, &mut out);
            prop_assert_eq!(&out[3..], header);
        }
    }
}
