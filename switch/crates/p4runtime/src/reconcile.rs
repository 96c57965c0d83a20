//! The state that RECONCILE_AND_COMMIT keeps: all written entities, and values of counters and registers.

use std::sync::Mutex;

use phb_node::{SwitchNode, Update as Change};
use phb_pipeline::Pipeline;
use prost::Message;

use crate::message::entity::{
    DigestEntry, DirectMeterEntry, Entity, Index, Kind, MeterEntry, PacketReplicationEngineEntry,
    ReplicationKind, TableEntry, ValueSetEntry,
};
use crate::message::request::Update;
use crate::read::Native;
use crate::role::Role;
use crate::schema::Table;
use crate::status::Result;
use crate::store::{Entries, Rest, Store};
use crate::write::{all_or_none, config, lock};
use crate::{Code, Configuration, Refusal};

const INSERT: i32 = 1;
const MODIFY: i32 = 2;

impl Configuration {
    /// Takes over another configuration's state. All that clients wrote must fit; counters and
    /// registers are kept where name and size agree.
    ///
    /// # Errors
    /// `InvalidArgument`, with the first entity that does not fit.
    pub fn carry_over(
        &self,
        node: &Mutex<SwitchNode>,
        old: &Self,
        old_node: &Mutex<SwitchNode>,
    ) -> Result<()> {
        let updates = match lock(old_node).pipeline() {
            Some(pipeline) => old.updates(self, pipeline),
            None => return Ok(()),
        };
        for (name, names) in &self.schema.names {
            if let Some(before) = old.schema.names.get(name) {
                names.adopt(before);
            }
        }
        let updates = updates.into_iter().map(Ok);
        let outcomes = all_or_none(
            &self.schema,
            &mut self.store(),
            node,
            &Role::default(),
            updates,
        );
        let refusals = || outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
        let first = refusals().find(|refusal| refusal.code != Code::Aborted);
        if let Some(refusal) = first.or_else(|| refusals().next()) {
            return Err(Refusal::new(
                Code::InvalidArgument,
                format!(
                    "RECONCILE_AND_COMMIT: the state does not fit the new config, so nothing was changed: {}",
                    refusal.message
                ),
            ));
        }
        // Waiting packets are dropped, so registers must not count them as queued.
        let values = {
            let mut old_node = lock(old_node);
            old_node.drop_waiting();
            old_node
                .pipeline()
                .map(|pipeline| old.values(self, pipeline))
        };
        // A register of another width may refuse values; it starts anew.
        lock(node).write(&values.unwrap_or_default(), false);
        Ok(())
    }

    fn updates(&self, new: &Self, pipeline: &Pipeline) -> Vec<Update> {
        let store = self.store();
        let mut updates = of_replication(&store.rest);
        updates.extend(of_profiles_and_sets(&store.rest));
        updates.extend(self.of_tables(&store, new, pipeline));
        updates.extend(self.of_meters(pipeline));
        updates
    }

    fn of_tables(&self, store: &Store, new: &Self, pipeline: &Pipeline) -> Vec<Update> {
        let mut updates = Vec::new();
        for table in self.schema.tables.values() {
            let entries = store.entries(table.id);
            let mut place = 0;
            while let Some((serialized, next)) = entries.from(place) {
                place = next;
                // Serialized here, so it can be decoded.
                let Ok(mut entry) = TableEntry::decode(serialized) else {
                    continue;
                };
                if entry.is_const {
                    continue;
                }
                if table.direct_counter && new.counts_like(table) {
                    entry = crate::read::with_counter(entry, table, pipeline);
                }
                entry = crate::read::with_meter(entry, table, pipeline);
                updates.push(update(INSERT, Kind::Table(entry)));
            }
        }
        let defaults = store.rest.defaults.values();
        updates.extend(defaults.map(|entry| update(MODIFY, Kind::Table(entry.clone()))));
        updates.extend(self.of_default_meters(pipeline));
        updates
    }

    /// Also of default entries that nobody has written.
    fn of_default_meters(&self, pipeline: &Pipeline) -> Vec<Update> {
        let metered = self.schema.tables.values();
        let metered = metered.filter(|table| table.direct_meter.is_some());
        let updates = metered.filter_map(|table| {
            let rates = pipeline.direct_meter_rates(&table.name, None).ok()??;
            let entry = TableEntry {
                table_id: table.id,
                is_default_action: true,
                ..TableEntry::default()
            };
            let entry = DirectMeterEntry {
                table_entry: Some(entry),
                config: Some(config(&rates)),
                counter_data: None,
            };
            Some(update(MODIFY, Kind::DirectMeter(entry)))
        });
        updates.collect()
    }

    fn of_meters(&self, pipeline: &Pipeline) -> Vec<Update> {
        let mut updates = Vec::new();
        for (id, meter) in &self.schema.meters {
            for index in 0..meter.size {
                let rates = pipeline.meter_rates(&meter.name, index as usize);
                if let Some(rates) = rates.ok().flatten() {
                    let entry = MeterEntry {
                        meter_id: *id,
                        index: Some(Index {
                            index: index as i64,
                        }),
                        config: Some(config(&rates)),
                        counter_data: None,
                    };
                    updates.push(update(MODIFY, Kind::Meter(entry)));
                }
            }
        }
        updates
    }

    fn counts_like(&self, table: &Table) -> bool {
        let same = self.schema.tables.get(&table.id);
        same.is_some_and(|same| same.direct_counter)
    }

    /// Values of counters, meters and registers that `new` has, too.
    fn values(&self, new: &Self, pipeline: &Pipeline) -> Vec<Change> {
        let mut values = Vec::new();
        let store = self.store();
        for counter in self.schema.counters.values() {
            let mut others = new.schema.counters.values();
            if others.any(|other| (&other.name, other.size) == (&counter.name, counter.size)) {
                let cells = pipeline.counter_read_all(&counter.name).unwrap_or_default();
                values.extend(
                    cells
                        .iter()
                        .enumerate()
                        .filter(|(_, value)| **value != (0, 0))
                        .map(|(index, value)| Change::Counter {
                            name: counter.name.clone(),
                            index,
                            value: *value,
                        }),
                );
            }
        }
        for meter in self.schema.meters.values() {
            let mut others = new.schema.meters.values();
            if others.any(|other| (&other.name, other.size) == (&meter.name, meter.size)) {
                values.extend((0..meter.size as usize).filter_map(|index| {
                    let counts = pipeline.meter_counts(&meter.name, index).ok()?;
                    (counts != [(0, 0); 3]).then(|| Change::MeterCounts {
                        name: meter.name.clone(),
                        index,
                        counts,
                    })
                }));
            }
        }
        for table in self.schema.tables.values() {
            if let Some(same) = new.schema.tables.get(&table.id) {
                let entries = store.entries(table.id);
                values.extend(of_direct_resources(table, same, &entries, pipeline));
            }
        }
        for register in self.schema.registers.values() {
            let mut others = new.schema.registers.values();
            if others.any(|other| (&other.name, other.size) == (&register.name, register.size)) {
                let cells = 0..register.size as usize;
                values.extend(cells.filter_map(|index| {
                    let value = pipeline.register_read(&register.name, index).ok()?;
                    value
                        .iter()
                        .any(|byte| *byte != 0)
                        .then(|| Change::Register {
                            name: register.name.clone(),
                            index,
                            value,
                        })
                }));
            }
        }
        values
    }
}

/// What direct meters have counted by colour, and the default entry's counter: entries were written with their own.
fn of_direct_resources(
    table: &Table,
    new: &Table,
    entries: &Entries,
    pipeline: &Pipeline,
) -> Vec<Change> {
    let mut values = Vec::new();
    let count = pipeline.direct_counter_read(&table.name, None);
    if let Ok(value) = count
        && value != (0, 0)
    {
        values.push(Change::DirectCounter {
            table: new.name.clone(),
            entry: None,
            value,
        });
    }
    if table.direct_meter.is_none() || new.direct_meter.is_none() {
        return values;
    }
    let mut counts_of = |entry: &TableEntry| {
        let of = Native::of(entry, table)?;
        let counts = pipeline.direct_meter_counts(&table.name, of.entry()).ok()?;
        let entry = Native::of(entry, new)?.entry().cloned();
        if counts != [(0, 0); 3] {
            values.push(Change::DirectMeterCounts {
                table: new.name.clone(),
                entry,
                counts,
            });
        }
        Some(())
    };
    counts_of(&TableEntry {
        is_default_action: true,
        ..TableEntry::default()
    });
    let mut place = 0;
    while let Some((serialized, next)) = entries.from(place) {
        place = next;
        // Serialized here, so it can be decoded.
        if let Ok(entry) = TableEntry::decode(serialized) {
            counts_of(&entry);
        }
    }
    values
}

fn of_replication(rest: &Rest) -> Vec<Update> {
    let digests = rest.digests.iter().map(|(digest_id, config)| {
        let (digest_id, config) = (*digest_id, Some(*config));
        update(INSERT, Kind::Digest(DigestEntry { digest_id, config }))
    });
    let groups = rest.multicast.values().cloned();
    let sessions = rest.clones.values().cloned();
    let kinds = groups
        .map(ReplicationKind::Multicast)
        .chain(sessions.map(ReplicationKind::Clone));
    let replication = kinds.map(|kind| {
        let entry = PacketReplicationEngineEntry { kind: Some(kind) };
        update(INSERT, Kind::Replication(entry))
    });
    digests.chain(replication).collect()
}

fn of_profiles_and_sets(rest: &Rest) -> Vec<Update> {
    let sets = rest.value_sets.iter().map(|(id, members)| {
        let (value_set_id, members) = (*id, members.clone());
        let entry = ValueSetEntry {
            value_set_id,
            members,
        };
        update(MODIFY, Kind::ValueSet(entry))
    });
    let members = rest.members.values().cloned().map(Kind::Member);
    let groups = rest.groups.values().cloned().map(Kind::Group);
    let profiles = members.chain(groups).map(|kind| update(INSERT, kind));
    sets.chain(profiles).collect()
}

fn update(kind: i32, entity: Kind) -> Update {
    Update {
        kind,
        entity: Some(Entity { kind: Some(entity) }),
    }
}
