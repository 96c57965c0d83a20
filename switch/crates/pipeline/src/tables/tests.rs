//! Every kind of table against a list that is searched from one end to the other.

use proptest::prelude::*;

use super::*;

const FIELDS: usize = 3;

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
    let width = prop_oneof![1u32..=9, Just(16), Just(32), Just(64), 65u32..=128];
    let fields = prop::collection::vec((kind(), width), 1..=FIELDS);
    (fields, prop::option::of(0..FIELDS), any::<bool>()).prop_map(|(fields, prefix, all_exact)| {
        let key = |(position, (kind, bits)): (usize, (MatchKind, u32))| {
            let kind = match (prefix == Some(position), all_exact) {
                (true, _) => MatchKind::Lpm,
                (false, true) => MatchKind::Exact,
                (false, false) => kind,
            };
            let word = position as u32 * 2;
            let slot = if bits > 64 {
                Slot::Wide { word, words: 2 }
            } else {
                Slot::Word { word }
            };
            Key {
                name: format!("field{position}"),
                kind,
                bits,
                slot,
                valid: None,
                mask: mask_double(bits),
            }
        };
        fields.into_iter().enumerate().map(key).collect()
    })
}

/// Numbers for one entry: three per field, a priority, and an action.
type Raw = (Vec<(u128, u128, u32)>, i64, u32);

fn raw() -> impl Strategy<Value = Raw> {
    // Few different values, so that entries overlap and lookups hit.
    let value = prop_oneof![
        0u128..8,
        any::<u128>(),
        (0u32..128).prop_map(|shift| 1 << shift)
    ];
    let mask = prop_oneof![
        0u128..8,
        any::<u128>(),
        (0u32..=128).prop_map(mask_double),
        Just(u128::MAX)
    ];
    (
        prop::collection::vec((value, mask, 0u32..=128), FIELDS),
        1i64..6,
        0u32..1000,
    )
}

fn entry(keys: &[Key], raw: &Raw, prioritised: bool) -> Entry {
    let mut prefix = 0;
    let checks = keys
        .iter()
        .zip(&raw.0)
        .map(|(key, &(value, mask, length))| {
            let full = mask_double(key.bits);
            match key.kind {
                MatchKind::Exact => Check::masked(value & full, full),
                MatchKind::Lpm => {
                    prefix = length % (key.bits + 1);
                    Check::masked(value, prefix_mask(prefix, key.bits))
                }
                MatchKind::Ternary => Check::masked(value, mask & full),
                MatchKind::Range => {
                    let (low, high) = (value & full, mask & full);
                    Check::range(low.min(high), low.max(high))
                }
                MatchKind::Optional => Check::masked(value, if length % 2 == 0 { full } else { 0 }),
            }
        });
    let checks: Box<[Check]> = checks.collect();
    let choice = Choice {
        action: raw.2,
        parameters: Box::default(),
    };
    Entry {
        checks,
        prefix,
        priority: if prioritised { raw.1 } else { 0 },
        choice,
        packets: 0,
        bytes: 0,
    }
}

/// The list: what [`Table`] does, with no index.
#[derive(Default)]
struct Model {
    entries: Vec<Entry>,
}

impl Model {
    fn position(&self, entry: &Entry) -> Option<usize> {
        self.entries
            .iter()
            .position(|known| known.checks == entry.checks && known.priority == entry.priority)
    }

    /// The best rank a match has, and the actions of all entries of that rank: the order of equals is left open.
    fn lookup(&self, keys: &[Key], values: &[u128]) -> Vec<u32> {
        let matches = |entry: &&Entry| {
            entry
                .checks
                .iter()
                .zip(values)
                .all(|(check, &value)| check.holds(value))
        };
        let rank = |entry: &Entry| match keys.iter().position(|key| key.kind == MatchKind::Lpm) {
            Some(_) if entry.priority == 0 => i64::from(entry.prefix),
            _ => entry.priority,
        };
        let found: Vec<&Entry> = self.entries.iter().filter(matches).collect();
        let best = found.iter().map(|entry| rank(entry)).max();
        found
            .iter()
            .filter(|entry| Some(rank(entry)) == best)
            .map(|entry| entry.choice.action)
            .collect()
    }
}

fn shape(keys: Vec<Key>) -> Shape {
    Shape {
        name: "t".into(),
        keys,
        actions: Vec::new(),
        hit: None,
        miss: None,
        otherwise: 0,
        size: 10_000,
        constant_entries: false,
        constant_default: false,
        direct_counter: None,
        default: None,
    }
}

fn check_lookup(table: &mut Table, model: &Model, values: &[u128]) -> Result<(), TestCaseError> {
    let mut packet = Packet::default();
    packet.reset(FIELDS * 2, 0, 0);
    let mut masked = Vec::new();
    for (key, value) in table.shape.keys.iter().zip(values) {
        let value = value & mask_double(key.bits);
        masked.push(value);
        match key.slot {
            Slot::Wide { word, .. } => packet.set_double(word, value),
            Slot::Word { word } => packet.set_word(word, value as u64),
            _ => {}
        }
    }
    let expected = model.lookup(&table.shape.keys, &masked);
    let found = table
        .lookup(&packet)
        .and_then(|number| table.entry(number))
        .map(|entry| entry.choice.action);
    match found {
        Some(action) => prop_assert!(expected.contains(&action), "{action} not in {expected:?}"),
        None => prop_assert!(expected.is_empty(), "nothing found, expected {expected:?}"),
    }
    Ok(())
}

proptest! {
    #[test]
    fn lookup_is_a_linear_search(
        keys in keys(),
        entries in prop::collection::vec(raw(), 0..150),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..3u8, 0u32..1000), 0..20),
        probes in prop::collection::vec(raw(), 30),
    ) {
        let mut table = Table::new(shape(keys.clone()));
        let prioritised = table.has_priorities();
        let mut model = Model::default();
        for raw in &entries {
            let entry = entry(&keys, raw, prioritised);
            let inserted = table.insert(entry.clone());
            if model.position(&entry).is_some() {
                prop_assert_eq!(inserted.unwrap_err().code, Code::AlreadyExists);
            } else {
                prop_assert!(inserted.is_ok());
                model.entries.push(entry);
            }
        }
        let probe = |table: &mut Table, model: &Model| -> Result<(), TestCaseError> {
            for (values, ..) in probes.iter().chain(&entries) {
                let values: Vec<u128> = values.iter().map(|&(value, ..)| value).collect();
                check_lookup(table, model, &values)?;
            }
            Ok(())
        };
        probe(&mut table, &model)?;
        for (which, what, action) in changes {
            if model.entries.is_empty() {
                break;
            }
            let position = which.index(model.entries.len());
            let mut chosen = model.entries[position].clone();
            match what {
                0 => {
                    table.delete(&chosen).unwrap();
                    model.entries.remove(position);
                    prop_assert_eq!(table.delete(&chosen).unwrap_err().code, Code::NotFound);
                    prop_assert_eq!(table.modify(chosen).unwrap_err().code, Code::NotFound);
                }
                1 => {
                    chosen.choice.action = action;
                    table.modify(chosen.clone()).unwrap();
                    model.entries[position] = chosen;
                }
                _ => {
                    table.delete(&chosen).unwrap();
                    table.insert(chosen).unwrap();
                }
            }
        }
        probe(&mut table, &model)?;
        table.clear();
        probe(&mut table, &Model::default())?;
    }
}

#[test]
fn a_full_table_says_so() {
    let key = Key {
        name: "f".into(),
        kind: MatchKind::Exact,
        bits: 8,
        slot: Slot::Word { word: 0 },
        valid: None,
        mask: 0xff,
    };
    let mut table = Table::new(Shape {
        size: 2,
        ..shape(vec![key])
    });
    let entry = |value| Entry {
        checks: Box::new([Check::masked(value, 0xff)]),
        prefix: 0,
        priority: 0,
        choice: Choice {
            action: 0,
            parameters: Box::default(),
        },
        packets: 0,
        bytes: 0,
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

/// Not a test but a figure: nanoseconds per lookup and per entry built, 16,384 rules of a policy's shape.
#[test]
#[ignore = "a measurement"]
fn time_per_lookup() {
    let widths = [9, 32, 32, 8, 16, 16, 8];
    let kinds = [
        MatchKind::Ternary,
        MatchKind::Range,
        MatchKind::Range,
        MatchKind::Ternary,
        MatchKind::Range,
        MatchKind::Range,
        MatchKind::Ternary,
    ];
    let keys: Vec<Key> = (0..7)
        .map(|position| Key {
            name: String::new(),
            kind: kinds[position],
            bits: widths[position],
            slot: Slot::Word {
                word: position as u32,
            },
            valid: None,
            mask: mask_double(widths[position]),
        })
        .collect();
    let mut random = crate::externs::random::Random::new(7);
    let mut draw = |high: u64| u128::from(random.between(0, high).unwrap_or(0));
    let mut table = Table::new(Shape {
        size: 20_000,
        ..shape(keys.clone())
    });
    for number in 0..16_384 {
        let checks = keys.iter().map(|key| {
            let full = mask_double(key.bits);
            if draw(2) == 0 {
                return if key.kind == MatchKind::Range {
                    Check::range(0, full)
                } else {
                    Check::masked(0, 0)
                };
            }
            let low = draw(full as u64);
            match key.kind {
                MatchKind::Range => Check::range(low, (low + draw(full as u64 >> 8)).min(full)),
                _ => Check::masked(low, full),
            }
        });
        let choice = Choice {
            action: 0,
            parameters: Box::default(),
        };
        let checks = checks.collect();
        table
            .insert(Entry {
                checks,
                prefix: 0,
                priority: 1 + number,
                choice,
                packets: 0,
                bytes: 0,
            })
            .ok();
    }
    let mut packets = Vec::new();
    for number in 0..1024u32 {
        let mut packet = Packet::default();
        packet.reset(7, 0, 0);
        let near = table
            .entry(number * 16)
            .map(|entry| entry.checks.clone())
            .unwrap_or_default();
        for (position, key) in keys.iter().enumerate() {
            let open = near[position].low == 0;
            let value = if open {
                draw(mask_double(key.bits) as u64)
            } else {
                near[position].low
            };
            packet.set_word(position as u32, value as u64);
        }
        packets.push(packet);
    }
    let start = std::time::Instant::now();
    table.lookup(&packets[0]);
    println!("built in {:?}", start.elapsed());
    let start = std::time::Instant::now();
    let mut hits = 0;
    for _ in 0..100 {
        for packet in &packets {
            hits += u32::from(table.lookup(packet).is_some());
        }
    }
    println!(
        "{} ns per lookup, {hits} of 102400 hits",
        start.elapsed().as_nanos() / 102_400
    );
}
