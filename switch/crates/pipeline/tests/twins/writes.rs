//! What the control plane writes: right mostly, or wrong in a detail.

use phb_pipeline::{
    ActionInfo, Count, Entry, Group, GroupMember, Indirect, KeyInfo, Match, MatchKind, MeterRates,
    Param, Pipeline, TableInfo, WeightedAction, WriteError,
};

use crate::choices::Choices;

/// A write to a pipeline, by the name of what it is for.
#[derive(Debug)]
pub enum Write {
    Insert(String, Entry),
    Modify(String, Entry),
    Delete(String, Entry),
    Default(String, Option<(String, Vec<Param>)>),
    DirectCounter(String, Option<Entry>, Count),
    DirectMeter(String, Option<Entry>, Option<MeterRates>),
    Counter(String, usize, Count),
    Register(String, usize, Vec<u8>),
    Meter(String, usize, Option<MeterRates>),
    ValueSet(String, Vec<Vec<Match>>),
    InsertMember(String, u32, String, Vec<Param>),
    ModifyMember(String, u32, String, Vec<Param>),
    DeleteMember(String, u32),
    InsertGroup(String, Group),
    ModifyGroup(String, Group),
    DeleteGroup(String, u32),
    Settle,
}

impl Write {
    pub fn apply(&self, pipeline: &mut Pipeline) -> Result<(), WriteError> {
        match self {
            Self::Insert(table, entry) => pipeline.table_insert(table, entry),
            Self::Modify(table, entry) => pipeline.table_modify(table, entry),
            Self::Delete(table, entry) => pipeline.table_delete(table, entry),
            Self::Default(table, None) => pipeline.set_default_action(table, None),
            Self::Default(table, Some((action, params))) => {
                pipeline.set_default_action(table, Some((action, params)))
            }
            Self::DirectCounter(table, entry, count) => {
                pipeline.direct_counter_write(table, entry.as_ref(), *count)
            }
            Self::DirectMeter(table, entry, rates) => {
                pipeline.direct_meter_configure(table, entry.as_ref(), *rates)
            }
            Self::Counter(name, index, count) => pipeline.counter_write(name, *index, *count),
            Self::Register(name, index, value) => pipeline.register_write(name, *index, value),
            Self::Meter(name, index, rates) => pipeline.meter_configure(name, *index, *rates),
            Self::ValueSet(name, members) => pipeline.value_set_write(name, members),
            Self::InsertMember(profile, id, action, params) => {
                pipeline.profile_member_insert(profile, *id, action, params)
            }
            Self::ModifyMember(profile, id, action, params) => {
                pipeline.profile_member_modify(profile, *id, action, params)
            }
            Self::DeleteMember(profile, id) => pipeline.profile_member_delete(profile, *id),
            Self::InsertGroup(profile, group) => pipeline.profile_group_insert(profile, group),
            Self::ModifyGroup(profile, group) => pipeline.profile_group_modify(profile, group),
            Self::DeleteGroup(profile, id) => pipeline.profile_group_delete(profile, *id),
            Self::Settle => {
                pipeline.settle();
                Ok(())
            }
        }
    }
}

/// A write to something that the program has; `None` where it has nothing of the kind chosen.
pub fn write(pipeline: &Pipeline, choices: &mut Choices<'_>) -> Option<Write> {
    let index = |size: usize, choices: &mut Choices<'_>| choices.up_to(size.min(16));
    Some(match choices.up_to(15) {
        0..=7 => return table(pipeline, choices),
        8 => {
            let (name, size) = any(&pipeline.counters(), choices)?;
            let count = (choices.word() >> 8, choices.word() >> 8);
            Write::Counter(name, index(size, choices), count)
        }
        9 => {
            let (name, size, bits) = any(&pipeline.registers(), choices)?;
            Write::Register(name, index(size, choices), choices.value(bits))
        }
        10 => {
            let (name, size) = any(&pipeline.meters(), choices)?;
            Write::Meter(name, index(size, choices), rates(choices))
        }
        11 => {
            let set = any(&pipeline.value_sets(), choices)?;
            // One too many for a small set, and no more choices for a large one.
            let most = set.size.min(MOST_MEMBERS) as usize + 1;
            let members = (0..choices.up_to(most)).map(|_| {
                let fields = set.bits.iter().map(|bits| {
                    let kind =
                        choices.pick(&[MatchKind::Exact, MatchKind::Ternary, MatchKind::Lpm]);
                    a_match(kind, *bits, choices)
                });
                fields.collect()
            });
            let members = members.collect();
            Write::ValueSet(set.name, members)
        }
        12..=14 => return profile(pipeline, choices),
        _ => Write::Settle,
    })
}

/// Members that are written to a value set at once.
const MOST_MEMBERS: u32 = 8;

fn any<T: Clone>(among: &[T], choices: &mut Choices<'_>) -> Option<T> {
    (!among.is_empty()).then(|| choices.pick(among))
}

fn rates(choices: &mut Choices<'_>) -> Option<MeterRates> {
    (!choices.one_in(4)).then(|| {
        let committed_rate = choices.up_to(4000) as u64;
        MeterRates {
            committed_rate,
            committed_burst: choices.up_to(3000) as u64,
            peak_rate: (committed_rate + choices.up_to(4000) as u64).saturating_sub(100),
            peak_burst: choices.up_to(6000) as u64,
            excess_burst: match choices.up_to(3) {
                0 => choices.up_to(3000) as u64,
                _ => 0,
            },
        }
    })
}

fn table(pipeline: &Pipeline, choices: &mut Choices<'_>) -> Option<Write> {
    let shape = any(&pipeline.tables(), choices)?;
    let name = shape.name.clone();
    let kind = choices.up_to(9);
    let known = pipeline.table_entries(&name).unwrap_or_default();
    // Later ones are for an entry that is there, as a rule.
    let mut entry = entry(&shape, choices);
    if kind > 4
        && !choices.one_in(8)
        && let Some(known) = any(&known, choices)
    {
        (entry.matches, entry.priority) = (known.matches, known.priority);
    }
    Some(match kind {
        0..=4 => Write::Insert(name, entry),
        5 => Write::Modify(name, entry),
        6 => Write::Delete(name, entry),
        7 => Write::Default(
            name,
            (!choices.one_in(3)).then_some((entry.action, entry.params)),
        ),
        8 => {
            let of = (!choices.one_in(4)).then_some(entry);
            Write::DirectCounter(name, of, (choices.word() >> 8, choices.word() >> 8))
        }
        _ => {
            let of = (!choices.one_in(4)).then_some(entry);
            Write::DirectMeter(name, of, rates(choices))
        }
    })
}

/// An entry for a table.
pub fn entry(shape: &TableInfo, choices: &mut Choices<'_>) -> Entry {
    let mut matches = Vec::new();
    for key in &shape.keys {
        if !choices.one_in(16) {
            matches.push((key.name.clone(), of_key(key, choices)));
        }
    }
    let (action, params) = an_action(&shape.actions, choices);
    let indirect = shape
        .action_profile
        .is_some()
        .then(|| match choices.up_to(3) {
            0 | 1 => Indirect::Member(choices.up_to(3) as u32),
            2 => Indirect::Group(choices.up_to(2) as u32),
            _ => {
                let actions = (0..choices.up_to(3)).map(|_| {
                    let (action, params) = an_action(&shape.actions, choices);
                    WeightedAction {
                        action,
                        params,
                        weight: choices.up_to(3) as u32,
                        watch_port: Vec::new(),
                    }
                });
                Indirect::ActionSet(actions.collect())
            }
        });
    let priority = if shape.has_priorities { 1 } else { 0 };
    Entry {
        matches,
        priority: priority * (1 + choices.up_to(20) as i32) + i32::from(choices.one_in(32)),
        action,
        params,
        indirect,
        idle_timeout_ns: if shape.idle_timeouts {
            choices.word() >> 34
        } else {
            0
        },
    }
}

fn an_action(actions: &[ActionInfo], choices: &mut Choices<'_>) -> (String, Vec<Param>) {
    let Some(action) = any(actions, choices) else {
        return Default::default();
    };
    let params = action.params.iter();
    let params = params.map(|(name, bits)| (name.clone(), choices.value(*bits)));
    (action.name.clone(), params.collect())
}

fn of_key(key: &KeyInfo, choices: &mut Choices<'_>) -> Match {
    let kind = if choices.one_in(24) {
        choices.pick(&[
            MatchKind::Exact,
            MatchKind::Lpm,
            MatchKind::Ternary,
            MatchKind::Range,
        ])
    } else {
        key.kind
    };
    a_match(kind, key.bits, choices)
}

fn a_match(kind: MatchKind, bits: u32, choices: &mut Choices<'_>) -> Match {
    let value = choices.value(bits);
    match kind {
        MatchKind::Exact => Match::Exact(value),
        MatchKind::Lpm => {
            let beyond = usize::from(choices.one_in(16));
            let prefix_len = choices.up_to(bits as usize + beyond) as u32;
            let kept = |byte: usize| {
                let from_end = (value.len() - byte) as u32 * 8;
                let cut = (bits.saturating_sub(prefix_len) + 8)
                    .saturating_sub(from_end)
                    .min(8);
                (0xff_u32 << cut) as u8
            };
            let value = (0..value.len())
                .map(|byte| value[byte] & kept(byte))
                .collect();
            Match::Lpm { value, prefix_len }
        }
        MatchKind::Ternary => {
            let mask = if choices.one_in(2) {
                vec![0; value.len()]
            } else {
                choices.value(bits)
            };
            let value = value
                .iter()
                .zip(&mask)
                .map(|(value, mask)| value & mask)
                .collect();
            Match::Ternary { value, mask }
        }
        MatchKind::Optional => Match::Optional((!choices.one_in(3)).then_some(value)),
        MatchKind::Range => {
            let other = choices.value(bits);
            Match::Range {
                low: value.clone().min(other.clone()),
                high: value.max(other),
            }
        }
    }
}

fn profile(pipeline: &Pipeline, choices: &mut Choices<'_>) -> Option<Write> {
    let profile = any(&pipeline.action_profiles(), choices)?;
    let of_table = |table: &TableInfo| profile.tables.contains(&table.name);
    let shape = pipeline.tables().into_iter().find(of_table)?;
    let name = profile.name;
    let id = choices.up_to(3) as u32;
    let (action, params) = an_action(&shape.actions, choices);
    let group = Group {
        id: choices.up_to(2) as u32,
        members: (0..choices.up_to(4))
            .map(|member| GroupMember {
                member: member as u32,
                weight: 1 + choices.up_to(3) as u32,
                watch_port: Vec::new(),
            })
            .collect(),
        max_size: 0,
    };
    Some(match choices.up_to(7) {
        0..=2 => Write::InsertMember(name, id, action, params),
        3 => Write::ModifyMember(name, id, action, params),
        4 => Write::DeleteMember(name, id),
        5 => Write::InsertGroup(name, group),
        6 => Write::ModifyGroup(name, group),
        _ => Write::DeleteGroup(name, id),
    })
}
