//! Table entries by key, by filter, or all of a table, and the direct resources of each.

use std::sync::Arc;

use phb_pipeline::{Entry, Pipeline, Time};
use prost::Message;

use super::arrays::{colours, data};
use super::{Source, write_entity, write_table_entry};
use crate::keys::{has_no_key, identity, key};
use crate::message::entity::{
    DirectCounterEntry, DirectMeterEntry, Entity, IdleTimeout, Kind, TableAction, TableActionKind,
    TableEntry,
};
use crate::schema::{DIRECT_COUNTER, DIRECT_METER, Naming, Schema, Table};
use crate::status::{Code, Refusal, Result, invalid};
use crate::store::{self, Store};
use crate::write::config;

/// Entries of one table still to be read, and their filter.
pub(super) struct Entries {
    table: Arc<Table>,
    entries: Arc<store::Entries>,
    place: u64,
    filter: Filter,
    answer: Answer,
}

/// Fields that an entry must have; a field at its default value does not filter.
#[derive(Clone, Default)]
struct Filter {
    action_id: u32,
    priority: i32,
    controller_metadata: u64,
    metadata: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Answer {
    Entry(With),
    DirectCounter,
    /// Whether with what it has counted of each colour.
    DirectMeter(bool),
}

/// Data to read besides the written entry.
#[derive(Clone, Copy, PartialEq, Eq)]
struct With {
    counter: bool,
    meter: bool,
    colours: bool,
    time: bool,
}

const NOTHING: With = With {
    counter: false,
    meter: false,
    colours: false,
    time: false,
};

impl Filter {
    fn fits(&self, entry: &TableEntry) -> bool {
        let action = entry
            .action
            .as_ref()
            .and_then(|action| action.kind.as_ref());
        let has_action = match action {
            Some(TableActionKind::Action(action)) => action.action_id == self.action_id,
            _ => false,
        };
        (self.action_id == 0 || has_action)
            && (self.priority == 0 || entry.priority == self.priority)
            && (self.controller_metadata == 0
                || entry.controller_metadata == self.controller_metadata)
            && (self.metadata.is_empty() || entry.metadata == self.metadata)
    }

    fn is_none(&self) -> bool {
        self.action_id == 0
            && self.priority == 0
            && self.controller_metadata == 0
            && self.metadata.is_empty()
    }
}

impl Entries {
    /// Adds the next entry to a piece, if it passes the filter; false at the end.
    pub(super) fn write_next(
        &mut self,
        pipeline: &Pipeline,
        now: Time,
        piece: &mut Vec<u8>,
    ) -> bool {
        let Some((serialized, next)) = self.entries.from(self.place) else {
            return false;
        };
        self.place = next;
        let plain = matches!(self.answer, Answer::Entry(NOTHING));
        if plain && self.filter.is_none() {
            write_table_entry(piece, serialized);
            return true;
        }
        // Serialized here, so it can be decoded.
        let Ok(entry) = TableEntry::decode(serialized) else {
            return true;
        };
        if !self.filter.fits(&entry) {
            return true;
        }
        let kind = match self.answer {
            Answer::Entry(with) => {
                let mut entry = entry;
                if with.counter {
                    entry = with_counter(entry, &self.table, pipeline);
                }
                if with.meter {
                    entry = with_meter(entry, &self.table, pipeline);
                }
                if with.colours {
                    entry = with_colours(entry, &self.table, pipeline);
                }
                if with.time {
                    entry = with_time(entry, &self.table, pipeline, now);
                }
                Some(Kind::Table(entry))
            }
            Answer::DirectCounter => direct_counter(entry, &self.table, pipeline),
            Answer::DirectMeter(counted) => direct_meter(entry, &self.table, pipeline, counted),
        };
        if kind.is_some() {
            write_entity(piece, &Entity { kind });
        }
        true
    }
}

/// An entry for the switch, or the default one.
pub(crate) enum Native {
    Default,
    Keyed(Entry),
}

impl Native {
    /// `None` if its key doesn't fit the table; one that was written to it does.
    pub(crate) fn of(entry: &TableEntry, table: &Table) -> Option<Self> {
        if entry.is_default_action {
            return Some(Self::Default);
        }
        let mut copy = entry.clone();
        Some(Self::Keyed(Entry {
            matches: key(&mut copy, table, Naming::Known).ok()?,
            priority: entry.priority,
            ..Entry::default()
        }))
    }

    /// As the switch names it.
    pub(crate) fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Default => None,
            Self::Keyed(entry) => Some(entry),
        }
    }
}

pub(crate) fn with_counter(
    mut entry: TableEntry,
    table: &Table,
    pipeline: &Pipeline,
) -> TableEntry {
    if table.direct_counter {
        entry.counter_data = Native::of(&entry, table)
            .and_then(|of| pipeline.direct_counter_read(&table.name, of.entry()).ok())
            .map(data);
    }
    entry
}

pub(crate) fn with_meter(mut entry: TableEntry, table: &Table, pipeline: &Pipeline) -> TableEntry {
    if table.direct_meter.is_some() {
        entry.meter_config = Native::of(&entry, table)
            .and_then(|of| pipeline.direct_meter_rates(&table.name, of.entry()).ok()?)
            .as_ref()
            .map(config);
    }
    entry
}

fn with_colours(mut entry: TableEntry, table: &Table, pipeline: &Pipeline) -> TableEntry {
    if table.direct_meter.is_some() {
        entry.meter_counter_data = Native::of(&entry, table)
            .and_then(|of| pipeline.direct_meter_counts(&table.name, of.entry()).ok())
            .map(colours);
    }
    entry
}

/// Adds the time since the last match, if the table keeps it; zero before the first look at it.
fn with_time(mut entry: TableEntry, table: &Table, pipeline: &Pipeline, now: Time) -> TableEntry {
    if table.idle_timeout {
        let of = Native::of(&entry, table);
        let last = of
            .as_ref()
            .and_then(Native::entry)
            .and_then(|entry| pipeline.last_hit(&table.name, entry).ok()?)
            .unwrap_or(now);
        let elapsed_ns = i64::try_from(now.saturating_sub(last)).unwrap_or(i64::MAX);
        entry.time_since_last_hit = Some(IdleTimeout { elapsed_ns });
    }
    entry
}

fn key_of(entry: TableEntry) -> TableEntry {
    TableEntry {
        table_id: entry.table_id,
        matches: entry.matches,
        priority: entry.priority,
        is_default_action: entry.is_default_action,
        ..TableEntry::default()
    }
}

/// None for an entry that has been deleted since the read began.
fn direct_meter(
    entry: TableEntry,
    table: &Table,
    pipeline: &Pipeline,
    counted: bool,
) -> Option<Kind> {
    let of = Native::of(&entry, table)?;
    let rates = pipeline.direct_meter_rates(&table.name, of.entry()).ok()?;
    let counts = pipeline.direct_meter_counts(&table.name, of.entry()).ok()?;
    Some(Kind::DirectMeter(DirectMeterEntry {
        table_entry: Some(key_of(entry)),
        config: rates.as_ref().map(config),
        counter_data: counted.then(|| colours(counts)),
    }))
}

/// None for an entry that has been deleted since the read began.
fn direct_counter(entry: TableEntry, table: &Table, pipeline: &Pipeline) -> Option<Kind> {
    let counts = pipeline
        .direct_counter_read(&table.name, Native::of(&entry, table)?.entry())
        .ok()?;
    Some(Kind::DirectCounter(DirectCounterEntry {
        table_entry: Some(key_of(entry)),
        data: Some(data(counts)),
    }))
}

pub(super) fn table_entries(
    schema: &Schema,
    store: &Store,
    wanted: TableEntry,
) -> Result<Vec<Source>> {
    let answer = Answer::Entry(With {
        counter: wanted.counter_data.is_some(),
        meter: wanted.meter_config.is_some(),
        colours: wanted.meter_counter_data.is_some(),
        time: wanted.time_since_last_hit.is_some(),
    });
    if wanted.table_id == 0 {
        let mut others = wanted.clone();
        others.counter_data = None;
        others.meter_config = None;
        others.meter_counter_data = None;
        others.time_since_last_hit = None;
        if others.encoded_len() != 0 {
            return invalid("a read of all tables (table_id 0) takes no other filter");
        }
        let mut sources = Vec::new();
        for table in schema.tables.values() {
            sources.extend(of_one_table(schema, store, table, wanted.clone(), answer)?);
        }
        return Ok(sources);
    }
    let table = schema.table(wanted.table_id)?;
    if wanted.time_since_last_hit.is_some() && (!table.idle_timeout || wanted.is_default_action) {
        return invalid(format!(
            "table {} does not keep time_since_last_hit of this entry",
            table.name
        ));
    }
    of_one_table(schema, store, table, wanted, answer)
}

fn of_one_table(
    schema: &Schema,
    store: &Store,
    table: &Arc<Table>,
    mut wanted: TableEntry,
    answer: Answer,
) -> Result<Vec<Source>> {
    let filter = filter(&wanted, table, schema)?;
    let entries = if wanted.is_default_action {
        has_no_key(&wanted, table)?;
        store::Entries::only(Some(store.default_entry(table.id)))
    } else if wanted.matches.is_empty() {
        // Entries that match anything have no match fields, so a key without any is a wildcard.
        store.entries(table.id)
    } else {
        let found = match key(&mut wanted, table, Naming::Known) {
            Ok(_) => store.entry(table.id, &identity(&wanted)),
            // No entry has one of its strings.
            Err(refusal) if refusal.code == Code::NotFound => None,
            Err(refusal) => return Err(refusal),
        };
        store::Entries::only(found)
    };
    Ok(vec![Source::Entries(Box::new(Entries {
        table: Arc::clone(table),
        entries,
        place: 0,
        filter,
        answer,
    }))])
}

fn filter(wanted: &TableEntry, table: &Table, schema: &Schema) -> Result<Filter> {
    let action_id = match &wanted.action {
        None => 0,
        Some(TableAction {
            kind: Some(TableActionKind::Action(action)),
        }) => {
            schema.action_of(table, action.action_id)?;
            action.action_id
        }
        // Filtering by members, groups and action sets isn't defined; clients read with an entry that they have written.
        Some(_) => 0,
    };
    Ok(Filter {
        action_id,
        priority: wanted.priority,
        controller_metadata: wanted.controller_metadata,
        metadata: wanted.metadata.clone(),
    })
}

pub(super) fn direct_counters(
    schema: &Schema,
    store: &Store,
    wanted: DirectCounterEntry,
) -> Result<Vec<Source>> {
    let wanted = wanted.table_entry.unwrap_or_default();
    let has = |table: &Table| table.direct_counter;
    resources(
        schema,
        store,
        wanted,
        DIRECT_COUNTER,
        has,
        Answer::DirectCounter,
    )
}

pub(super) fn direct_meters(
    schema: &Schema,
    store: &Store,
    wanted: DirectMeterEntry,
) -> Result<Vec<Source>> {
    let answer = Answer::DirectMeter(wanted.counter_data.is_some());
    let wanted = wanted.table_entry.unwrap_or_default();
    let has = |table: &Table| table.direct_meter.is_some();
    resources(schema, store, wanted, DIRECT_METER, has, answer)
}

/// The direct resources of one entry, one table or all tables.
fn resources(
    schema: &Schema,
    store: &Store,
    wanted: TableEntry,
    what: &str,
    has: impl Fn(&Table) -> bool,
    answer: Answer,
) -> Result<Vec<Source>> {
    let tables: Vec<&Arc<Table>> = if wanted.table_id == 0 {
        schema.tables.values().filter(|table| has(table)).collect()
    } else {
        let table = schema.table(wanted.table_id)?;
        if !has(table) {
            return table.lacks(what);
        }
        vec![table]
    };
    let mut sources = Vec::new();
    for table in tables {
        if !wanted.matches.is_empty() {
            let mut of = wanted.clone();
            key(&mut of, table, Naming::Known)?;
            if store.entry(table.id, &identity(&of)).is_none() {
                return Err(Refusal::new(
                    Code::NotFound,
                    format!("table {} has no such entry", table.name),
                ));
            }
        }
        sources.extend(of_one_table(schema, store, table, wanted.clone(), answer)?);
    }
    Ok(sources)
}
