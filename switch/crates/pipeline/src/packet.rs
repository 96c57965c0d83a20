//! A packet inside the pipeline: header and metadata fields in fixed slots, and the payload.

use crate::bits::Writer;
use crate::program::{FieldList, Slot, VariablePlace, WordField};
use crate::record::Record;

/// One packet on its way through ingress, queue and egress, opaque outside this crate. When it is
/// sent or dropped, [`crate::Pipeline::recycle`] reuses its buffers.
#[derive(Debug, Clone, Default)]
pub struct Packet {
    pub(crate) words: Vec<u64>,
    /// Fields of variable length; a word of each says how many of its bytes mean something.
    pub(crate) bytes: Vec<u8>,
    pub(crate) payload: Vec<u8>,
    /// Bytes of the frame as received, which counters and meters count.
    pub(crate) received_length: u32,
    /// Bytes after headers were added and removed: `packet_length` in egress.
    pub(crate) current_length: u32,
    /// Set by `truncate`: bytes to send at most.
    pub(crate) truncate_to: Option<u64>,
    /// None of most packets.
    pub(crate) wishes: Option<Wishes>,
    /// A loop took more steps than were left: the results are not used.
    pub(crate) exhausted: bool,
    /// What happened to it so far, if it is traced.
    pub(crate) record: Option<Box<Record>>,
}

/// Requests of the program besides where the packet goes; the last of each kind counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wishes {
    pub(crate) clone: Option<CloneRequest>,
    pub(crate) resubmit: Option<FieldList>,
    pub(crate) recirculate: Option<FieldList>,
    /// Position of the digest list.
    pub(crate) digest: Option<u32>,
    /// All digest lists that were asked for, of the first 64: PSA sends each.
    pub(crate) digests: u64,
}

/// A copy for a clone session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloneRequest {
    /// The session's number, of 15 bits as in bmv2.
    pub session: u16,
    /// Metadata the copy keeps.
    pub fields: FieldList,
}

impl Packet {
    /// What happened to it so far, if it is traced.
    #[inline]
    pub fn record(&mut self) -> Option<&mut Record> {
        self.record.as_deref_mut()
    }

    /// The number of its trace; 0 if it has none.
    #[must_use]
    pub fn traced_as(&self) -> u64 {
        self.record.as_ref().map_or(0, |record| record.number)
    }

    /// Gives it the record of what happens to it, or takes it away; gives the one before.
    pub fn set_record(&mut self, record: Option<Box<Record>>) -> Option<Box<Record>> {
        std::mem::replace(&mut self.record, record)
    }

    /// Bytes of the frame as it was received, Ethernet header included, frame check sequence not.
    #[must_use]
    pub fn received_length(&self) -> u32 {
        self.received_length
    }

    /// Bytes of the frame now: as received, plus headers added, minus removed, cut by `truncate`.
    #[must_use]
    pub fn length(&self) -> u32 {
        let cut = self
            .truncate_to
            .map_or(u32::MAX, |limit| u32::try_from(limit).unwrap_or(u32::MAX));
        self.current_length.min(cut)
    }

    /// Cuts the packet to `bytes` when it leaves, if it is longer then.
    pub fn truncate(&mut self, bytes: u32) {
        let limit = u64::from(bytes);
        self.truncate_to = Some(self.truncate_to.map_or(limit, |before| before.min(limit)));
    }

    /// Makes it a packet of `length` bytes whose words are all zero.
    pub(crate) fn reset(&mut self, words: usize, bytes: usize, length: usize) {
        self.words.clear();
        self.words.resize(words, 0);
        self.begin(bytes, length);
    }

    /// Makes it a packet of `length` bytes, but for its words.
    pub(crate) fn begin(&mut self, bytes: usize, length: usize) {
        if self.bytes.len() != bytes {
            self.bytes.resize(bytes, 0);
        }
        self.payload.clear();
        self.received_length = u32::try_from(length).unwrap_or(u32::MAX);
        self.current_length = self.received_length;
        self.truncate_to = None;
        self.wishes = None;
        self.exhausted = false;
        self.record = None;
    }

    pub(crate) fn wishes_mut(&mut self) -> &mut Wishes {
        self.wishes.get_or_insert_default()
    }

    pub(crate) fn word(&self, word: u32) -> u64 {
        self.words[word as usize]
    }

    #[inline]
    pub(crate) fn set_word(&mut self, word: u32, value: u64) {
        self.words[word as usize] = value;
    }

    pub(crate) fn wide(&self, word: u32, words: u32) -> &[u64] {
        &self.words[word as usize..(word + words) as usize]
    }

    pub(crate) fn wide_mut(&mut self, word: u32, words: u32) -> &mut [u64] {
        &mut self.words[word as usize..(word + words) as usize]
    }

    pub(crate) fn variable(&self, place: VariablePlace) -> &[u8] {
        let length = (self.word(place.length_word) / 8).min(place.capacity.into()) as u32;
        self.span(place.byte, length)
    }

    pub(crate) fn span(&self, byte: u32, length: u32) -> &[u8] {
        &self.bytes[byte as usize..(byte + length) as usize]
    }

    pub(crate) fn span_mut(&mut self, byte: u32, length: u32) -> &mut [u8] {
        &mut self.bytes[byte as usize..(byte + length) as usize]
    }

    /// Sets a standard metadata field, if the program has it.
    #[inline]
    pub(crate) fn set_field(&mut self, field: Option<WordField>, value: u64) {
        if let Some(WordField { word, fit }) = field {
            self.set_word(word, fit.word(value));
        }
    }

    /// Appends a field as it lies on the wire. `slot` is absolute.
    pub(crate) fn write_field(&self, writer: &mut Writer<'_>, slot: Slot, bits: u32) {
        match slot {
            Slot::Word { word } => writer.push(self.word(word), bits),
            Slot::Wide { word, words } => {
                let mut width = bits - (words - 1) * 64;
                for value in self.wide(word, words).iter().rev() {
                    writer.push(*value, width);
                    width = 64;
                }
            }
            Slot::Variable {
                byte,
                capacity,
                length_word,
            } => writer.push_bytes(self.variable(VariablePlace {
                byte,
                capacity,
                length_word,
            })),
        }
    }
}
