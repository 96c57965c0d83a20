//! Inverse changes, found before a change is made.

use phb_pipeline::{Entry, Pipeline, WriteError};

use super::apply::{apply, size};
use super::update::{Cells, Member, Update};
use crate::switch::SwitchNode;

/// The inverse of a change. Insertion is by far the most frequent, so its inverse copies nothing.
pub(super) enum Undo<'a> {
    Delete { table: &'a str, entry: &'a Entry },
    Changes(Vec<Update>),
}

impl<'a> Undo<'a> {
    /// The inverse of a change that is about to be made; nothing if it will be refused.
    pub(super) fn of(update: &'a Update, node: &SwitchNode) -> Self {
        match update {
            Update::Insert { table, entry } => Self::Delete { table, entry },
            Update::MulticastGroup { group, .. } | Update::MulticastWithBackups { group, .. } => {
                let replication = node.replication();
                Self::Changes(vec![match replication.preferences(*group) {
                    Some(receivers) => Update::MulticastWithBackups {
                        group: *group,
                        receivers: receivers.clone(),
                    },
                    None => Update::MulticastGroup {
                        group: *group,
                        replicas: replication.group(*group).map(|group| group.to_vec()),
                    },
                }])
            }
            Update::CloneSession { session, .. } => Self::Changes(vec![Update::CloneSession {
                session: *session,
                value: node.replication().given_session(*session).cloned(),
            }]),
            _ => {
                let inverse = node.pipeline().map(|pipeline| inverse(update, pipeline));
                Self::Changes(inverse.and_then(Result::ok).unwrap_or_default())
            }
        }
    }

    pub(super) fn apply(self, node: &mut SwitchNode) -> Result<(), WriteError> {
        match self {
            Self::Delete { table, entry } => match node.pipeline_mut() {
                Some(pipeline) => pipeline.table_delete(table, entry),
                None => Ok(()),
            },
            Self::Changes(changes) => changes.iter().try_for_each(|change| apply(change, node)),
        }
    }
}

/// The changes of the inverse, in order.
fn inverse(update: &Update, pipeline: &Pipeline) -> Result<Vec<Update>, WriteError> {
    Ok(match update {
        Update::Insert { .. } | Update::Find { .. } => Vec::new(),
        Update::Modify { table, entry } | Update::IdleTimeout { table, entry } => {
            vec![Update::Modify {
                table: table.clone(),
                entry: pipeline.table_entry(table, entry)?,
            }]
        }
        Update::Delete { table, entry } => deleted(table, entry, pipeline)?,
        Update::DefaultAction { table, .. } => vec![Update::DefaultAction {
            table: table.clone(),
            action: pipeline.default_action(table)?,
        }],
        Update::InsertMember(member) => vec![Update::DeleteMember {
            profile: member.profile.clone(),
            id: member.id,
        }],
        Update::ModifyMember(Member { profile, id, .. }) => {
            vec![Update::ModifyMember(member(profile, *id, pipeline)?)]
        }
        Update::DeleteMember { profile, id } => {
            vec![Update::InsertMember(member(profile, *id, pipeline)?)]
        }
        Update::InsertGroup { profile, group } => vec![Update::DeleteGroup {
            profile: profile.clone(),
            id: group.id,
        }],
        Update::ModifyGroup { profile, group } => vec![Update::ModifyGroup {
            profile: profile.clone(),
            group: pipeline.profile_group(profile, group.id)?,
        }],
        Update::DeleteGroup { profile, id } => vec![Update::InsertGroup {
            profile: profile.clone(),
            group: pipeline.profile_group(profile, *id)?,
        }],
        Update::DirectCounter { table, entry, .. } => vec![Update::DirectCounter {
            table: table.clone(),
            entry: entry.clone(),
            value: pipeline.direct_counter_read(table, entry.as_ref())?,
        }],
        Update::DirectMeter { table, entry, .. } => vec![Update::DirectMeter {
            table: table.clone(),
            entry: entry.clone(),
            rates: pipeline.direct_meter_rates(table, entry.as_ref())?,
        }],
        Update::DirectMeterCounts { table, entry, .. } => vec![Update::DirectMeterCounts {
            table: table.clone(),
            entry: entry.clone(),
            counts: pipeline.direct_meter_counts(table, entry.as_ref())?,
        }],
        Update::ValueSet { name, .. } => vec![Update::ValueSet {
            name: name.clone(),
            members: pipeline.value_set_read(name)?,
        }],
        Update::Crc { calculation, .. } => vec![Update::Crc {
            calculation: calculation.clone(),
            parameters: pipeline.custom_crc(calculation)?.1,
        }],
        _ => vec![cells(update, pipeline)?],
    })
}

/// The changes that bring back an entry which is about to be deleted.
fn deleted(table: &str, entry: &Entry, pipeline: &Pipeline) -> Result<Vec<Update>, WriteError> {
    let mut changes = vec![Update::Insert {
        table: table.to_owned(),
        entry: pipeline.table_entry(table, entry)?,
    }];
    // Refused for a table without direct counter or meter, which has none to bring back.
    if let Ok(value) = pipeline.direct_counter_read(table, Some(entry)) {
        changes.push(Update::DirectCounter {
            table: table.to_owned(),
            entry: Some(entry.clone()),
            value,
        });
    }
    if let Ok(rates) = pipeline.direct_meter_rates(table, Some(entry)) {
        changes.push(Update::DirectMeter {
            table: table.to_owned(),
            entry: Some(entry.clone()),
            rates,
        });
    }
    if let Ok(counts) = pipeline.direct_meter_counts(table, Some(entry)) {
        changes.push(Update::DirectMeterCounts {
            table: table.to_owned(),
            entry: Some(entry.clone()),
            counts,
        });
    }
    Ok(changes)
}

fn member(profile: &str, id: u32, pipeline: &Pipeline) -> Result<Member, WriteError> {
    Ok(Member {
        profile: profile.to_owned(),
        id,
        action: pipeline.profile_member(profile, id)?,
    })
}

fn cells(update: &Update, pipeline: &Pipeline) -> Result<Update, WriteError> {
    Ok(match update {
        Update::Counter { name, index, .. } => Update::Counter {
            name: name.clone(),
            index: *index,
            value: pipeline.counter_read(name, *index)?,
        },
        Update::Counters { name, .. } => Update::Counters {
            name: name.clone(),
            values: Cells::Each(pipeline.counter_read_all(name)?.to_vec()),
        },
        Update::Register { name, index, .. } => Update::Register {
            name: name.clone(),
            index: *index,
            value: pipeline.register_read(name, *index)?,
        },
        Update::Registers { name, .. } => {
            let cells = 0..size(pipeline.registers().into_iter(), "register", name)?;
            let values = cells.map(|index| pipeline.register_read(name, index));
            Update::Registers {
                name: name.clone(),
                values: Cells::Each(values.collect::<Result<_, _>>()?),
            }
        }
        Update::Meter { name, index, .. } => Update::Meter {
            name: name.clone(),
            index: *index,
            rates: pipeline.meter_rates(name, *index)?,
        },
        Update::Meters { name, .. } => {
            let meters = pipeline.meters().into_iter();
            let cells = 0..size(meters.map(|(name, size)| (name, size, 0)), "meter", name)?;
            let rates = cells.map(|index| pipeline.meter_rates(name, index));
            Update::Meters {
                name: name.clone(),
                rates: Cells::Each(rates.collect::<Result<_, _>>()?),
            }
        }
        Update::MeterCounts { name, index, .. } => Update::MeterCounts {
            name: name.clone(),
            index: *index,
            counts: pipeline.meter_counts(name, *index)?,
        },
        Update::MetersCounts { name, .. } => {
            let meters = pipeline.meters().into_iter();
            let cells = 0..size(meters.map(|(name, size)| (name, size, 0)), "meter", name)?;
            let counts = cells.map(|index| pipeline.meter_counts(name, index));
            Update::MetersCounts {
                name: name.clone(),
                counts: Cells::Each(counts.collect::<Result<_, _>>()?),
            }
        }
        other => other.clone(),
    })
}
