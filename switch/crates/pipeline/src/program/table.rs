//! Match-action tables as the program declares them.

use super::externs::Unit;
use super::hash::Algorithm;
use super::slot::{Slot, WordField};
use crate::bits::mask;
use crate::error::{Code, WriteError};

/// How a key field is matched. p4c turns `optional` into ternary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchKind {
    /// The whole value.
    Exact,
    /// The longest prefix wins.
    Lpm,
    /// Value under a mask.
    Ternary,
    /// From low to high, both included.
    Range,
    /// Exactly one value or any.
    Optional,
}

impl MatchKind {
    /// The kind as P4 writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Lpm => "lpm",
            Self::Ternary => "ternary",
            Self::Range => "range",
            Self::Optional => "optional",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) kind: MatchKind,
    pub(crate) bits: u32,
    pub(crate) slot: Slot,
    /// Validity of its header: fields of an invalid header are matched as zero, as in bmv2.
    pub(crate) valid: Option<u32>,
    /// Applied before matching: one word per column, least significant first.
    pub(crate) mask: Box<[u64]>,
}

impl Key {
    /// The number of low bits that are compared, if the mask leaves no other ones; else all.
    pub(crate) fn compared(&self) -> u32 {
        let ones = self.mask.iter().map(|word| word.count_ones()).sum();
        let is_low = |(column, word): (usize, &u64)| *word == column_mask(ones, column);
        match self.mask.iter().enumerate().all(is_low) {
            true => ones,
            false => self.bits,
        }
    }
}

pub(crate) fn columns_of(bits: u32) -> usize {
    bits.div_ceil(64).max(1) as usize
}

pub(crate) fn column_mask(bits: u32, index: usize) -> u64 {
    mask(bits.saturating_sub(index as u32 * 64))
}

pub(crate) fn prefix_words(length: u32, bits: u32) -> Vec<u64> {
    let open = bits.saturating_sub(length);
    (0..columns_of(bits))
        .map(|index| column_mask(bits, index) & !column_mask(open, index))
        .collect()
}

/// A big-endian number as columns of a field of `bits` bits; what does not fit is cut off.
pub(crate) fn words_of(bytes: &[u8], bits: u32) -> Vec<u64> {
    let mut words: Vec<u64> = bytes
        .rchunks(8)
        .map(|chunk| {
            chunk
                .iter()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        })
        .collect();
    words.resize(columns_of(bits), 0);
    words
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TableAction {
    pub(crate) action: u32,
    pub(crate) next: u32,
    /// The action does nothing.
    pub(crate) idle: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct DirectMeter {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    /// Where the colour goes.
    pub(crate) target: WordField,
    /// The architecture's numbers of green, yellow and red.
    pub(crate) colours: [u64; 3],
}

#[derive(Debug)]
pub(crate) struct TableShape {
    pub(crate) name: String,
    pub(crate) keys: Vec<Key>,
    pub(crate) actions: Vec<TableAction>,
    /// Words of runtime data of the action that has the most.
    pub(crate) parameter_words: u32,
    /// Where control goes after a hit and a miss, if the program asks for it.
    pub(crate) hit: Option<u32>,
    pub(crate) miss: Option<u32>,
    /// Where control goes when there is no action to take.
    pub(crate) otherwise: u32,
    pub(crate) size: u32,
    pub(crate) constant_entries: bool,
    pub(crate) constant_default: bool,
    pub(crate) direct_counter: Option<String>,
    pub(crate) direct_meter: Option<DirectMeter>,
    /// Entries may have an idle timeout.
    pub(crate) timeouts: bool,
    pub(crate) default: Option<ActionChoice>,
    pub(crate) profile: Option<ProfileShape>,
    pub(crate) entries: Vec<ProgramEntry>,
}

impl TableShape {
    /// Whether overlapping entries are ordered by a priority.
    pub(crate) fn has_priorities(&self) -> bool {
        let ranked = |key: &Key| {
            matches!(
                key.kind,
                MatchKind::Ternary | MatchKind::Range | MatchKind::Optional
            )
        };
        self.keys.iter().any(ranked)
    }

    pub(crate) fn exists(&self) -> WriteError {
        let name = &self.name;
        let message = format!("table {name}: an entry with this match and priority exists");
        WriteError::new(Code::AlreadyExists, message)
    }

    pub(crate) fn needs_member(&self, profile: &ProfileShape) -> WriteError {
        let message = format!(
            "table {}: an action where a member or group of action profile {} is needed",
            self.name, profile.name
        );
        WriteError::new(Code::InvalidArgument, message)
    }

    /// The slots its key and its selector read.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> {
        let keys = self.keys.iter().map(|key| (key.slot, key.valid));
        let selector = self
            .profile
            .iter()
            .filter_map(|profile| profile.selector.as_ref());
        let fields = selector.flat_map(|selector| &selector.fields);
        keys.chain(fields.map(|(slot, _, valid)| (*slot, *valid)))
            .flat_map(|(slot, valid)| {
                let valid = valid.map(|word| Slot::Word { word });
                std::iter::once(slot).chain(valid)
            })
    }
}

/// An action profile: the entries of its tables take their actions from it.
#[derive(Debug, Clone)]
pub(crate) struct ProfileShape {
    pub(crate) name: String,
    pub(crate) size: u32,
    pub(crate) selector: Option<Selector>,
}

/// The hash that picks a member of a group.
#[derive(Debug, Clone)]
pub(crate) struct Selector {
    pub(crate) algorithm: Algorithm,
    /// Slot, width, and the validity of the header; fields of an invalid header are left out.
    pub(crate) fields: Vec<(Slot, u32, Option<u32>)>,
}

#[derive(Debug)]
pub(crate) struct ProgramEntry {
    /// Two words per column: value and mask, or the least and the greatest value.
    pub(crate) words: Box<[u64]>,
    /// Prefix length of the table's LPM field.
    pub(crate) prefix: u32,
    /// The larger wins.
    pub(crate) priority: i32,
    pub(crate) choice: ActionChoice,
}

/// An action of the table (by position in its list) and its runtime data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActionChoice {
    pub(crate) action: u32,
    pub(crate) parameters: Box<[u64]>,
}
