//! Plans for headers of fixed length, which are read and written eight bytes at a time.

use super::slot::LayoutField;

#[derive(Debug, Clone)]
pub(crate) struct ExtractPlan {
    /// Bytes of the header.
    pub(crate) length: usize,
    pub(crate) windows: Vec<Window>,
    pub(crate) reads: Vec<FieldRead>,
    /// Parts of fields that no eight bytes hold, and signed fields; after the others.
    pub(crate) special: Vec<SpecialRead>,
    pub(crate) writes: Vec<FieldWrite>,
    /// Where the writes of each eight bytes end.
    pub(crate) chunks: Vec<u32>,
}

/// Eight bytes of the header and the reads from them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// Bytes from the header's start; shorter headers are read with zeros behind them.
    pub(crate) start: u32,
    /// Where its reads end; they begin where those of the window before end.
    pub(crate) end: u32,
}

/// Part of a window that is a word of the instance: `(eight bytes << left) >> right`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldRead {
    pub(crate) word: u16,
    pub(crate) left: u8,
    pub(crate) right: u8,
}

/// Part of a window that is part of a word, or signed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpecialRead {
    pub(crate) start: u32,
    pub(crate) read: FieldRead,
    /// Bits the word is moved up by before this part is added.
    pub(crate) join: u8,
    /// Sign bit of a signed field, or zero.
    pub(crate) sign: u64,
}

/// A word of the instance as part of eight bytes of the header: `(word << up) >> down`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldWrite {
    pub(crate) word: u16,
    pub(crate) up: u8,
    pub(crate) down: u8,
}

/// The longest header that is read this way, in bytes.
const LONGEST: usize = 4096;

impl ExtractPlan {
    /// A plan for fields without a varbit; `None` if they are no whole number of bytes.
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

    /// Where to read eight bytes for bits from `offset` on: within the header, if it is that long.
    fn start(&self, offset: u32) -> u32 {
        (offset / 8).min(self.length.saturating_sub(8) as u32)
    }

    /// Adds `width` bits at bit `offset` of the header, which are the low bits of `word`.
    fn add(&mut self, word: u16, offset: u32, width: u32, sign: u64) {
        let read = |start: u32, offset: u32, width: u32| {
            let skip = offset - start * 8;
            FieldRead {
                word,
                left: skip as u8,
                right: (64 - width) as u8,
            }
        };
        let start = self.start(offset);
        // One load is enough if the window of the read before holds this field too.
        let shared = self
            .windows
            .last()
            .map(|window| window.start)
            .filter(|start| offset + width - start * 8 <= 64);
        if offset + width - start * 8 > 64 {
            // A field across nine bytes: the upper part up to a byte's end, then the rest.
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
            // The part that the first eight bytes do not hold.
            let over = place + width - 64;
            self.write(word, offset / 64 + 1, (64 - over) as u8, 0);
        }
    }

    fn write(&mut self, word: u16, chunk: u32, up: u8, down: u8) {
        self.writes.push(FieldWrite { word, up, down });
        let end = self.writes.len() as u32;
        self.chunks.resize(chunk as usize + 1, end);
        if let Some(last) = self.chunks.last_mut() {
            *last = end;
        }
    }
}
