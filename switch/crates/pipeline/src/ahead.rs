//! Look-ups ahead of packets. In a table that is larger than the processor's caches a look-up waits for
//! memory at every step. For frames that came together the tables wait for all at once: what is
//! read stays in the caches until each packet's own look-up, which decides. A key read here that is
//! not the packet's costs time, never a result.

use std::collections::VecDeque;
use std::hint::black_box;

use crate::pipeline::Pipeline;
use crate::program::{ParserOperation, Program, Slot};
use crate::state::tables::{TOGETHER, Table};

/// Where frames that take the shortest way through the parser have the key of a table.
#[derive(Debug)]
pub(crate) struct KeyPlace {
    table: usize,
    /// The byte with the first bit, and how many bits are before it.
    byte: usize,
    before: u32,
    bits: u32,
    mask: u64,
}

impl KeyPlace {
    fn key(&self, frame: &[u8]) -> Option<u64> {
        let bytes = frame.get(self.byte..self.byte + 8)?;
        let bytes = u64::from_be_bytes(bytes.try_into().ok()?);
        Some(bytes << self.before >> (64 - self.bits) & self.mask)
    }
}

/// The places of keys of all tables that may be worth it.
pub(crate) fn places(program: &Program, tables: &[Table]) -> Vec<KeyPlace> {
    let place = |(number, table): (usize, &Table)| {
        let (word, mask) = table.prefix_word()?;
        let (bit, bits) = place_of(program, word)?;
        let before = (bit % 8) as u32;
        (bits > 0 && before + bits <= 64).then_some(KeyPlace {
            table: number,
            byte: (bit / 8) as usize,
            before,
            bits,
            mask,
        })
    };
    tables.iter().enumerate().filter_map(place).collect()
}

/// The first bit of a word of the packet in a frame, and its number of bits, if headers of fixed
/// length lead to it.
fn place_of(program: &Program, word: u32) -> Option<(u64, u32)> {
    let mut seen = vec![false; program.states.len()];
    let mut next = VecDeque::from([(program.initial_state, 0u64)]);
    while let Some((number, mut bit)) = next.pop_front() {
        let Some(state) = program.states.get(number as usize) else {
            continue;
        };
        if std::mem::replace(&mut seen[number as usize], true) {
            continue;
        }
        let mut fixed = true;
        for operation in &state.operations {
            match operation {
                ParserOperation::ExtractFixed(header) => {
                    let layout = &program.layouts[header.layout as usize];
                    let mut within = bit;
                    for field in &layout.fields {
                        if field.slot.of(*header) == (Slot::Word { word }) {
                            return Some((within, field.bits));
                        }
                        within += u64::from(field.bits);
                    }
                    bit += u64::from(layout.length) * 8;
                }
                ParserOperation::Extract { .. }
                | ParserOperation::ExtractNext { .. }
                | ParserOperation::Advance { .. } => fixed = false,
                _ => {}
            }
        }
        if fixed {
            next.extend(state.successors().map(|state| (state, bit)));
        }
    }
    None
}

impl Pipeline {
    /// Whether there is such a table now.
    #[must_use]
    pub fn looks_ahead(&self) -> bool {
        let mut tables = self.key_places.iter().map(|place| place.table);
        tables.any(|table| self.state.tables[table].is_large())
    }

    /// Fetches what tables larger than the processor's caches have for these frames, which come to
    /// [`ingress`](Self::ingress) next. Costs time only for such tables.
    pub fn look_ahead<'a>(&self, frames: impl Iterator<Item = &'a [u8]> + Clone) {
        for place in &self.key_places {
            let table = &self.state.tables[place.table];
            if !table.is_large() {
                continue;
            }
            let mut keys = [0; TOGETHER];
            let mut count = 0;
            for key in frames.clone().filter_map(|frame| place.key(frame)) {
                keys[count] = key;
                count += 1;
                if count == TOGETHER {
                    black_box(table.look_ahead(&keys));
                    count = 0;
                }
            }
            black_box(table.look_ahead(&keys[..count]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    fn pipeline(json: &str) -> Pipeline {
        match Pipeline::load(json, Options::default()) {
            Ok(pipeline) => pipeline,
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_key_is_where_the_parser_leads_by_headers_of_fixed_length() {
        let router = pipeline(include_str!("../../../programs/build/router.json"));
        let [place] = &router.key_places[..] else {
            panic!("{:?}", router.key_places);
        };
        // 14 bytes of Ethernet and 16 of IPv4 before the destination.
        assert_eq!((place.byte, place.before, place.bits), (30, 0, 32));
        let frame: Vec<u8> = (0..64).collect();
        assert_eq!(place.key(&frame), Some(0x1e1f_2021));
        assert_eq!(place.key(&frame[..37]), None);
    }
}
