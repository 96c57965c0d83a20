//! Every kind of table against a list that is searched from one end to the other.

use proptest::prelude::*;

use super::*;
use crate::error::Code;
use crate::program::{Slot, prefix_words, words_of};
use crate::state::tables::exact::hash;

const FIELDS: usize = 4;

/// Words of the widest field here: 2,100 bits.
const WIDEST: u32 = 33;

fn kind() -> impl Strategy<Value = MatchKind> {
    prop_oneof![
        Just(MatchKind::Exact),
        Just(MatchKind::Ternary),
        Just(MatchKind::Range),
        Just(MatchKind::Optional)
    ]
}

/// Fields of all sorts of widths; at most one is matched by prefix.
fn keys() -> impl Strategy<Value = Vec<Key>> {
    let width = prop_oneof![
        4 => 1u32..=9,
        2 => Just(16),
        4 => Just(32),
        1 => Just(64),
        2 => 65u32..=128,
        1 => Just(2100)
    ];
    let fields = prop::collection::vec((kind(), width), 1..=FIELDS);
    (fields, prop::option::of(0..FIELDS), any::<bool>()).prop_map(|(fields, prefix, all_exact)| {
        let key = |(position, (kind, bits)): (usize, (MatchKind, u32))| {
            let kind = match (prefix == Some(position), all_exact) {
                (true, _) => MatchKind::Lpm,
                (false, true) => MatchKind::Exact,
                (false, false) => kind,
            };
            key_of(position, kind, bits, WIDEST)
        };
        fields.into_iter().enumerate().map(key).collect()
    })
}

/// A field in the words from `position * apart` on.
pub(super) fn key_of(position: usize, kind: MatchKind, bits: u32, apart: u32) -> Key {
    let word = position as u32 * apart;
    let words = columns_of(bits) as u32;
    Key {
        name: format!("field{position}"),
        kind,
        bits,
        slot: if words > 1 {
            Slot::Wide { word, words }
        } else {
            Slot::Word { word }
        },
        valid: None,
        mask: prefix_words(bits, bits).into(),
    }
}

/// A field of an entry or a packet: a value, a second one, and a length.
type Raw = (Vec<u64>, Vec<u64>, u32);

fn raw_field() -> impl Strategy<Value = Raw> {
    // Few different values, so that entries overlap and lookups hit.
    let value = prop_oneof![
        3 => (0u64..8).prop_map(|low| vec![low]),
        1 => prop::collection::vec(any::<u64>(), WIDEST as usize),
        1 => (0u32..128).prop_map(|shift| words_of(&(1u128 << shift).to_be_bytes(), 128)),
        1 => (0u32..2100).prop_map(|length| prefix_words(length, 2100)),
    ];
    let mask = prop_oneof![
        2 => (0u64..8).prop_map(|low| vec![low]),
        1 => prop::collection::vec(any::<u64>(), WIDEST as usize),
        2 => (0u32..=128).prop_map(|open| prefix_words(128 - open, 128)),
        2 => Just(vec![u64::MAX; WIDEST as usize]),
        1 => Just(vec![]),
    ];
    (value, mask, prop_oneof![0u32..=34, 0u32..=128, 0u32..=2100])
}

fn raw() -> impl Strategy<Value = (Vec<Raw>, i32, u32)> {
    (
        prop::collection::vec(raw_field(), FIELDS),
        1i32..6,
        0u32..1000,
    )
}

/// The first columns of a number, cut to the width of a field.
fn cut(words: &[u64], bits: u32) -> Vec<u64> {
    let word = |index| words.get(index).copied().unwrap_or(0) & column_mask(bits, index);
    (0..columns_of(bits)).map(word).collect()
}

pub(super) fn action(action: u32) -> Choice {
    let parameters = Box::default();
    Choice::Action(ActionChoice { action, parameters })
}

/// Value and mask, or the least and the greatest value, of all fields, as an entry has them.
pub(super) fn interleave(fields: impl IntoIterator<Item = (Vec<u64>, Vec<u64>)>) -> Box<[u64]> {
    let pairs = |(first, second): (Vec<u64>, Vec<u64>)| {
        let pairs = first.into_iter().zip(second);
        pairs.flat_map(|(first, second)| [first, second])
    };
    fields.into_iter().flat_map(pairs).collect()
}

fn entry(keys: &[Key], raw: &(Vec<Raw>, i32, u32), prioritised: bool) -> TableEntry {
    let mut prefix = 0;
    let masked = |value: Vec<u64>, mask: Vec<u64>| {
        let value = value.iter().zip(&mask).map(|(a, b)| a & b).collect();
        (value, mask)
    };
    let fields = keys.iter().zip(&raw.0).map(|(key, (value, mask, length))| {
        let full = prefix_words(key.bits, key.bits);
        let (value, mask) = (cut(value, key.bits), cut(mask, key.bits));
        match key.kind {
            MatchKind::Exact => (value, full),
            MatchKind::Lpm => {
                prefix = length % (key.bits + 1);
                masked(value, prefix_words(prefix, key.bits))
            }
            MatchKind::Ternary => masked(value, mask),
            MatchKind::Range if value.iter().rev().le(mask.iter().rev()) => (value, mask),
            MatchKind::Range => (mask, value),
            MatchKind::Optional if length % 2 == 0 => (value, full),
            MatchKind::Optional => masked(value, vec![0; full.len()]),
        }
    });
    let words = interleave(fields);
    TableEntry {
        words,
        prefix,
        priority: if prioritised { raw.1 } else { 0 },
        choice: action(raw.2),
        idle_timeout: 0,
    }
}

/// The model: a list that is searched without an index.
#[derive(Default)]
struct Model {
    entries: Vec<TableEntry>,
}

impl Model {
    fn position(&self, entry: &TableEntry) -> Option<usize> {
        self.entries
            .iter()
            .position(|known| known.words == entry.words && known.priority == entry.priority)
    }

    fn matches(keys: &[Key], entry: &TableEntry, values: &[Vec<u64>]) -> bool {
        let mut column = 0;
        keys.iter().zip(values).all(|(key, value)| {
            let columns = columns_of(key.bits);
            let pairs = &entry.words[column * 2..(column + columns) * 2];
            column += columns;
            let first = pairs.iter().step_by(2);
            let second = pairs.iter().skip(1).step_by(2);
            if key.kind == MatchKind::Range {
                first.rev().le(value.iter().rev()) && value.iter().rev().le(second.rev())
            } else {
                value
                    .iter()
                    .zip(first.zip(second))
                    .all(|(value, (wanted, mask))| value & mask == *wanted)
            }
        })
    }

    /// The best rank a match has, and the actions of all entries of that rank: the order of equals is left open.
    fn lookup(&self, keys: &[Key], values: &[Vec<u64>]) -> Vec<Choice> {
        let rank = |entry: &TableEntry| match entry.priority {
            0 => i64::from(entry.prefix),
            priority => priority.into(),
        };
        let found: Vec<&TableEntry> = self
            .entries
            .iter()
            .filter(|entry| Self::matches(keys, entry, values))
            .collect();
        let best = found.iter().map(|entry| rank(entry)).max();
        found
            .iter()
            .filter(|entry| Some(rank(entry)) == best)
            .map(|entry| entry.choice.clone())
            .collect()
    }
}

pub(super) fn shape(keys: Vec<Key>) -> TableShape {
    TableShape {
        name: "t".into(),
        keys,
        actions: Vec::new(),
        parameter_words: 0,
        hit: None,
        miss: None,
        otherwise: 0,
        size: 1_000_000,
        constant_entries: false,
        constant_default: false,
        direct_counter: None,
        direct_meter: None,
        timeouts: false,
        default: None,
        profile: None,
        entries: Vec::new(),
    }
}

/// Writes the values of an entry's fields to a packet; gives them cut to the fields' widths.
fn set(keys: &[Key], values: &[Raw], packet: &mut Packet) -> Vec<Vec<u64>> {
    packet.reset(FIELDS * WIDEST as usize, 0, 0);
    let mut cut_values = Vec::new();
    for (position, (key, (value, ..))) in keys.iter().zip(values).enumerate() {
        let value = cut(value, key.bits);
        for (index, &word) in value.iter().enumerate() {
            packet.set_word((position * WIDEST as usize + index) as u32, word);
        }
        cut_values.push(value);
    }
    cut_values
}

/// Prefixes are found for many keys at once as for each.
fn check_together(table: &Table, steps: &[Step]) -> Result<(), TestCaseError> {
    let Index::Lpm(prefixes) = &table.index else {
        return Ok(());
    };
    let mut packet = Packet::default();
    for steps in steps.chunks(TOGETHER) {
        let (mut keys, mut expected) = (Vec::new(), Vec::new());
        for ((values, ..), ..) in steps {
            set(&table.shape.keys, values, &mut packet);
            let mut key = vec![0; table.extractor.words()];
            table.extractor.extract(&packet, &mut key);
            expected.push(prefixes.lookup(&key));
            keys.extend(key);
        }
        let mut found = vec![None; steps.len()];
        prefixes.lookup_together(&keys, &mut found);
        prop_assert_eq!(found, expected);
    }
    Ok(())
}

fn check_lookup(
    table: &mut Table,
    model: &Model,
    values: &[Raw],
    packet: &mut Packet,
) -> Result<(), TestCaseError> {
    let keys = table.shape.keys.clone();
    let cut_values = set(&keys, values, packet);
    let expected = model.lookup(&keys, &cut_values);
    let found = table.lookup(packet).map(|number| table.choice_of(number));
    match found {
        Some(found) => prop_assert!(expected.contains(&found), "{found:?} not in {expected:?}"),
        None => prop_assert!(expected.is_empty(), "nothing found, expected {expected:?}"),
    }
    Ok(())
}

/// One step: an entry that may be inserted, the position of one that is there, and what to do.
type Step = ((Vec<Raw>, i32, u32), prop::sample::Index, u8);

fn run(keys: Vec<Key>, steps: &[Step], probe_every: usize) -> Result<(), TestCaseError> {
    let mut table = Table::new(shape(keys.clone()).into());
    let prioritised = table.shape.has_priorities();
    let mut model = Model::default();
    let mut packet = Packet::default();
    for (number, (raw, which, what)) in steps.iter().enumerate() {
        let new = entry(&keys, raw, prioritised);
        let position = which.index(model.entries.len().max(1));
        match (what, model.entries.get(position).cloned()) {
            (0, Some(chosen)) => {
                prop_assert!(table.delete(&chosen).is_ok());
                model.entries.remove(position);
                prop_assert_eq!(table.delete(&chosen).unwrap_err().code, Code::NotFound);
                prop_assert_eq!(table.modify(chosen).unwrap_err().code, Code::NotFound);
            }
            (1, Some(mut chosen)) => {
                chosen.choice = new.choice;
                prop_assert!(table.modify(chosen.clone()).is_ok());
                model.entries[position] = chosen;
            }
            (2, Some(_)) => table.settle(),
            (3, Some(chosen)) => {
                let number = table.find(&chosen);
                prop_assert!(number.is_some());
                let found = number.map(|number| table.choice_of(number));
                prop_assert_eq!(found, Some(chosen.choice));
            }
            _ => {
                let inserted = table.insert(new.clone());
                if model.position(&new).is_some() {
                    prop_assert_eq!(inserted.unwrap_err().code, Code::AlreadyExists);
                } else {
                    prop_assert!(inserted.is_ok());
                    model.entries.push(new);
                }
            }
        }
        prop_assert_eq!(table.store().length(), model.entries.len());
        check_lookup(&mut table, &model, &raw.0, &mut packet)?;
        if number % probe_every == probe_every - 1 {
            for ((values, ..), ..) in steps {
                check_lookup(&mut table, &model, values, &mut packet)?;
            }
        }
    }
    check_together(&table, steps)?;
    table.clear();
    check_together(&table, steps)?;
    for ((values, ..), ..) in steps {
        check_lookup(&mut table, &Model::default(), values, &mut packet)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn lookup_is_a_linear_search(
        keys in keys(),
        steps in prop::collection::vec((raw(), any::<prop::sample::Index>(), 0..12u8), 1..300),
    ) {
        run(keys, &steps, 150)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Enough of one kind of rules, on few narrow fields, that blocks are made anew, filled up, and emptied.
    #[test]
    fn large_tables_are_a_linear_search(
        kinds in prop::collection::vec(kind(), 2..=3),
        prefix in prop::option::of(0usize..3),
        steps in prop::collection::vec((raw(), any::<prop::sample::Index>(), 0..20u8), 600..1200),
    ) {
        let keys = kinds.into_iter().enumerate().map(|(position, kind)| {
            let kind = if prefix == Some(position) { MatchKind::Lpm } else { kind };
            key_of(position, kind, 12 + position as u32 * 8, WIDEST)
        });
        run(keys.collect(), &steps, 600)?;
    }
}

/// Masks with bits scattered over the whole key: nothing tells much, so that many blocks have candidates to the last.
#[test]
fn scattered_masks_are_a_linear_search() {
    // So many random words and-ed make a mask: about half of all bits, a quarter, an eighth.
    for (sparse, count) in [(1, 1500), (2, 4500), (3, 1500)] {
        let mut state = sparse as usize;
        let mut random = || {
            state = hash(&[state as u64]);
            state as u64 & 0xffff_ffff
        };
        let keys: Vec<Key> = (0..FIELDS)
            .map(|position| key_of(position, MatchKind::Ternary, 32, 1))
            .collect();
        let mut table = Table::new(shape(keys).into());
        let mut entries: Vec<TableEntry> = Vec::new();
        let mut packet = Packet::default();
        for number in 0..count {
            let fields = (0..FIELDS).map(|_| {
                let mask = (0..sparse).fold(u64::MAX, |mask, _| mask & random());
                (vec![random() & mask], vec![mask])
            });
            let entry = TableEntry {
                words: interleave(fields),
                prefix: 0,
                priority: (number * 7919 % count) as i32 + 1,
                choice: action(number),
                idle_timeout: 0,
            };
            assert!(table.insert(entry.clone()).is_ok());
            entries.push(entry);
        }
        for removed in [false, true] {
            if removed {
                for position in (0..entries.len() / 5).rev() {
                    assert!(table.delete(&entries.remove(position * 4)).is_ok());
                }
            }
            table.settle();
            let mut hits = 0;
            for trial in 0..400 {
                packet.reset(FIELDS, 0, 0);
                // Within an entry, or anywhere.
                let within = &entries[random() as usize % entries.len()];
                for (position, pair) in within.words.chunks(2).enumerate() {
                    let any = random();
                    let value = pair[0] | any & !pair[1];
                    packet.set_word(position as u32, if trial % 4 == 0 { any } else { value });
                }
                let matches = |entry: &&TableEntry| {
                    let mut pairs = entry.words.chunks(2).enumerate();
                    pairs.all(|(at, pair)| packet.word(at as u32) & pair[1] == pair[0])
                };
                let expected = entries.iter().filter(matches).max_by_key(|e| e.priority);
                let found = table.lookup(&packet).map(|number| table.choice_of(number));
                assert_eq!(found, expected.map(|entry| entry.choice.clone()));
                hits += usize::from(found.is_some());
            }
            assert!(hits >= 300);
        }
    }
}

#[test]
fn a_full_table_says_so() {
    let keys = vec![key_of(0, MatchKind::Exact, 8, 1)];
    let mut table = Table::new(
        TableShape {
            size: 2,
            ..shape(keys)
        }
        .into(),
    );
    let entry = |value| TableEntry {
        words: Box::new([value, 0xff]),
        prefix: 0,
        priority: 0,
        choice: action(0),
        idle_timeout: 0,
    };
    table.insert(entry(1)).unwrap();
    table.insert(entry(2)).unwrap();
    assert_eq!(
        table.insert(entry(3)).unwrap_err().code,
        Code::ResourceExhausted
    );
    assert_eq!(
        table.insert(entry(2)).unwrap_err().code,
        Code::AlreadyExists
    );
    table.delete(&entry(1)).unwrap();
    table.insert(entry(3)).unwrap();
}
