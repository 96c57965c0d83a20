//! Writes what an executor does into the record of a packet.
//!
//! An event is a word (kind, and the number of what it is about) and those that its kind has; the
//! dictionary reads them by the same layouts.

use std::ops::Range;

use crate::machine::{Observe, RequestKind, ResultKind};
use crate::packet::Packet;
use crate::program::{Dictionary, HeaderSpan, NO_FIELD, Place, Slot, Span, VariablePlace};
use crate::record::{Part, Record};
use crate::state::externs::counter::Count;
use crate::state::tables::{Seen, Table, Taken};
use crate::time::Time;

/// Words of a record: what a packet does beyond them is counted and left out.
const MOST_WORDS: usize = 8192;

/// The kind of an event, in the upper byte of its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Part,
    Mark,
    State,
    Extracted,
    Selected,
    ParserError,
    Checksum,
    Table,
    Assign,
    Header,
    Register,
    Counter,
    Meter,
    Result,
    Request,
    Emitted,
}

impl Kind {
    pub(super) const ALL: [Self; 16] = [
        Self::Part,
        Self::Mark,
        Self::State,
        Self::Extracted,
        Self::Selected,
        Self::ParserError,
        Self::Checksum,
        Self::Table,
        Self::Assign,
        Self::Header,
        Self::Register,
        Self::Counter,
        Self::Meter,
        Self::Result,
        Self::Request,
        Self::Emitted,
    ];
}

/// Memory that every packet uses again.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    words: Vec<u64>,
    bytes: Vec<u8>,
    seen: Seen,
}

/// Writes the record of one packet.
pub(crate) struct Recorder<'a> {
    pub(crate) record: &'a mut Record,
    pub(crate) names: &'a Dictionary,
    pub(crate) scratch: &'a mut Scratch,
}

impl Recorder<'_> {
    /// Begins an event with so many more words, if there is room for it.
    fn event(&mut self, kind: Kind, number: u32, words: usize) -> Option<&mut Vec<u64>> {
        let record = &mut *self.record;
        if record.words.len() + words >= MOST_WORDS {
            record.left_out = record.left_out.saturating_add(1);
            return None;
        }
        record.words.push((kind as u64) << 56 | u64::from(number));
        Some(&mut record.words)
    }

    /// A field has the value that the words say.
    fn assign(&mut self, number: u32, words: &[u64]) {
        if let Some(field) = self.names.fields.get(number as usize)
            && let Some((first, count)) = field.slot.words()
        {
            let value = &words[first as usize..(first + count) as usize];
            if let Some(out) = self.event(Kind::Assign, number, value.len()) {
                out.extend_from_slice(value);
            }
        }
    }

    fn assign_variable(&mut self, number: u32, place: VariablePlace, packet: &Packet) {
        let words = 1 + place.capacity.div_ceil(8) as usize;
        if let Some(out) = self.event(Kind::Assign, number, words) {
            push_variable(out, place, packet);
        }
    }

    /// All of a header, which is valid or not.
    fn header(&mut self, number: u32, kind: Kind, extra: Option<u64>, packet: &Packet) {
        let header = &self.names.headers[number as usize];
        let fields = self.names.fields_of(header);
        let words = (header.words + header.span_bytes.div_ceil(8) + 3) as usize;
        let (span, count) = (header.span, header.words);
        let variable = fields
            .iter()
            .find_map(|field| VariablePlace::of(field.slot));
        if let Some(out) = self.event(kind, number, words) {
            out.extend(extra);
            out.extend_from_slice(packet.wide(span.word, count));
            if let Some(place) = variable {
                push_variable(out, place, packet);
            }
        }
    }

    fn header_words(&mut self, number: u32, words: &[u64]) {
        let header = &self.names.headers[number as usize];
        let (first, count) = (header.span.word as usize, header.words as usize);
        // Only that it is invalid now: its validity is all that an instruction sets.
        if let Some(out) = self.event(Kind::Header, number, count + 3) {
            out.extend_from_slice(&words[first..first + count]);
            if self.names.has_variable(number) {
                self.record.words.push(0);
            }
        }
    }
}

/// A varbit: its length in bits, and its bytes as a number's words.
fn push_variable(out: &mut Vec<u64>, place: VariablePlace, packet: &Packet) {
    let bytes = packet.variable(place);
    out.push(bytes.len() as u64 * 8);
    out.extend(bytes.rchunks(8).map(|chunk| {
        chunk
            .iter()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }));
}

impl Observe for Recorder<'_> {
    const ON: bool = true;

    type Short<'s>
        = Recorder<'s>
    where
        Self: 's;

    fn lend(&mut self) -> Recorder<'_> {
        Recorder {
            record: self.record,
            names: self.names,
            scratch: self.scratch,
        }
    }

    fn set(&mut self, words: &mut [u64], to: Place, value: u64) {
        let at = usize::from(to);
        words[at] = value;
        match self.names.field_of.get(at) {
            Some(&NO_FIELD) => match self.names.header_of[at] {
                NO_FIELD => {}
                header => self.header_words(header, words),
            },
            Some(&field) => self.assign(field, words),
            None => {}
        }
    }

    fn span(&mut self, to: Span, words: &[u64]) {
        let mut last = NO_FIELD;
        for at in usize::from(to.first)..usize::from(to.first) + usize::from(to.words) {
            let field = self.names.field_of.get(at).copied().unwrap_or(NO_FIELD);
            if field != NO_FIELD && field != last {
                self.assign(field, words);
            }
            last = field;
        }
    }

    fn part(&mut self, part: Part, now: Time) {
        if let Some(out) = self.event(Kind::Part, part as u32, 1) {
            out.push(now);
        }
    }

    fn mark(&mut self, number: u32) {
        self.event(Kind::Mark, number, 0);
    }

    fn state(&mut self, number: u32) {
        self.event(Kind::State, number, 0);
    }

    fn extracted(&mut self, header: HeaderSpan, bytes: Range<usize>, packet: &Packet) {
        let number = self.names.header_of[header.word as usize];
        if number != NO_FIELD {
            let place = (bytes.start as u64) << 32 | bytes.len() as u64;
            self.header(number, Kind::Extracted, Some(place), packet);
        }
    }

    fn selected(&mut self, keys: &[Place], next: Option<u32>, packet: &Packet) {
        // The greatest number stands for the error where no case matches; states and "accept" have 32 bits.
        let next = next.map_or(u64::MAX, u64::from);
        if let Some(out) = self.event(Kind::Selected, keys.len() as u32, keys.len() + 1) {
            out.push(next);
            out.extend(keys.iter().map(|key| packet.word((*key).into())));
        }
    }

    fn parsed(&mut self, bytes: usize, error: Option<u64>) {
        self.record.parsed.get_or_insert(bytes as u32);
        if let Some(error) = error
            && let Some(out) = self.event(Kind::ParserError, 0, 1)
        {
            out.push(error);
        }
    }

    fn checksum(&mut self, word: u32, computed: u64, carried: u64) {
        if let Some(out) = self.event(Kind::Checksum, word, 2) {
            out.extend([computed, carried]);
        }
    }

    fn table<'t>(
        &mut self,
        number: u32,
        table: &'t mut Table,
        packet: &mut Packet,
        now: Time,
    ) -> Taken<'t> {
        let mut seen = std::mem::take(&mut self.scratch.seen);
        let mut taken = table.apply_seen(packet, now, &mut seen);
        // The table knows where control goes on in the program that forwards.
        taken.next = self.names.tables[number as usize].next(taken.outcome);
        let parameters = taken.parameters;
        let words = seen.words.len() + parameters.len() + 2;
        if let Some(out) = self.event(Kind::Table, number, words) {
            out.extend_from_slice(&seen.words);
            out.push(taken.outcome.into());
            out.push(parameters.len() as u64);
            out.extend_from_slice(parameters);
        }
        self.scratch.seen = seen;
        if let Some(direct) = &self.names.tables[number as usize].direct_meter
            && let Some(&field) = self.names.field_of.get(direct.target.word as usize)
        {
            self.assign(field, &packet.words);
        }
        taken
    }

    fn register(&mut self, number: u32, index: u64, before: &[u64], after: &[u64], written: bool) {
        if let Some(out) = self.event(Kind::Register, number, before.len() + after.len() + 2) {
            out.extend([index, (before.len() as u64) << 32 | u64::from(written)]);
            out.extend_from_slice(before);
            let after = after.iter().copied().chain(std::iter::repeat(0));
            out.extend(after.take(before.len()));
        }
    }

    fn counter(&mut self, number: u32, index: u64, counts: Option<[Count; 2]>) {
        if let Some(out) = self.event(Kind::Counter, number, 6) {
            let [before, after] = counts.unwrap_or_default();
            out.extend([index, counts.is_some().into()]);
            out.extend([before.0, before.1, after.0, after.1]);
        }
    }

    fn before(&mut self, packet: &Packet) {
        self.scratch.words.clone_from(&packet.words);
        self.scratch.bytes.clone_from(&packet.bytes);
    }

    fn changed(&mut self, packet: &Packet) {
        let before = std::mem::take(&mut self.scratch.words);
        let names = self.names;
        let mut at = 0;
        while let Some(next) = first_difference(&before, &packet.words, at) {
            at = next + 1;
            let (header, field) = match (names.header_of.get(next), names.field_of.get(next)) {
                (Some(&header), Some(&field)) => (header, field),
                _ => break,
            };
            if header != NO_FIELD {
                self.header(header, Kind::Header, None, packet);
                let header = &names.headers[header as usize];
                at = (header.span.word + header.words) as usize;
            } else if field != NO_FIELD {
                self.assign(field, &packet.words);
                if let Some((first, count)) = names.fields[field as usize].slot.words() {
                    at = (first + count) as usize;
                }
            }
        }
        for &number in &names.variables {
            let field = &names.fields[number as usize];
            let Slot::Variable {
                byte,
                capacity,
                length_word,
            } = field.slot
            else {
                continue;
            };
            let range = byte as usize..(byte + capacity) as usize;
            let word = length_word as usize;
            let valid = names.headers[field.header as usize].span.word as usize;
            let same = before[word] == packet.words[word]
                && self.scratch.bytes[range.clone()] == packet.bytes[range];
            if !same && before[valid] == packet.words[valid] {
                let place = VariablePlace {
                    byte,
                    capacity,
                    length_word,
                };
                self.assign_variable(number, place, packet);
            }
        }
        self.scratch.words = before;
    }

    fn meter(&mut self, number: u32, index: u64, colour: u64, tokens: Option<[[u64; 2]; 2]>) {
        if let Some(out) = self.event(Kind::Meter, number, 7) {
            out.extend([index, colour]);
            push_tokens(out, tokens);
        }
    }

    fn result(&mut self, kind: ResultKind, value: u64) {
        if let Some(out) = self.event(Kind::Result, kind as u32, 1) {
            out.push(value);
        }
    }

    fn request(&mut self, kind: RequestKind, number: u64) {
        if let Some(out) = self.event(Kind::Request, kind as u32, 1) {
            out.push(number);
        }
    }

    fn emitted(&mut self, header: HeaderSpan, bytes: Range<usize>) {
        let number = self.names.header_of[header.word as usize];
        if let Some(out) = self.event(Kind::Emitted, number, 1) {
            out.push((bytes.start as u64) << 32 | bytes.len() as u64);
        }
    }

    fn deparsed(&mut self, bytes: usize) {
        self.record.emitted = Some(bytes as u32);
    }
}

/// Whether a meter has rates, and the tokens of both buckets before and after.
fn push_tokens(out: &mut Vec<u64>, tokens: Option<[[u64; 2]; 2]>) {
    let [before, after] = tokens.unwrap_or_default();
    out.extend([
        tokens.is_some().into(),
        before[0],
        after[0],
        before[1],
        after[1],
    ]);
}

fn first_difference(before: &[u64], after: &[u64], from: usize) -> Option<usize> {
    let pairs = before.get(from..)?.iter().zip(after.get(from..)?);
    pairs
        .enumerate()
        .find(|(_, (before, after))| before != after)
        .map(|(at, _)| from + at)
}
