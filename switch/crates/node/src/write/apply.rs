use phb_pipeline::{Code, Entry, Pipeline, WriteError};

use super::update::Update;
use crate::switch::SwitchNode;

/// Makes a change. The caller has checked that there is a program; else tables do not change.
pub(super) fn apply(update: &Update, node: &mut SwitchNode) -> Result<(), WriteError> {
    match update {
        Update::MulticastGroup { group, replicas } => {
            node.replication_mut().set_group(*group, replicas.clone());
            Ok(())
        }
        Update::MulticastWithBackups { group, receivers } => {
            node.replication_mut()
                .set_group_with_backups(*group, receivers.clone());
            Ok(())
        }
        Update::CloneSession { session, value } => {
            node.replication_mut().set_session(*session, value.clone());
            Ok(())
        }
        _ => {
            let Some(pipeline) = node.pipeline_mut() else {
                return Ok(());
            };
            apply_to(update, pipeline)
        }
    }
}

fn apply_to(update: &Update, pipeline: &mut Pipeline) -> Result<(), WriteError> {
    match update {
        Update::Insert { table, entry } => pipeline.table_insert(table, entry),
        Update::Modify { table, entry } => pipeline.table_modify(table, entry),
        Update::Find { table, entry } => pipeline.table_entry(table, entry).map(|_| ()),
        Update::IdleTimeout { table, entry } => set_idle_timeout(pipeline, table, entry),
        Update::Delete { table, entry } => pipeline.table_delete(table, entry),
        Update::DefaultAction { table, action } => {
            let action = action
                .as_ref()
                .map(|(name, params)| (name.as_str(), params.as_slice()));
            pipeline.set_default_action(table, action)
        }
        Update::InsertMember(member) => {
            let (action, params) = &member.action;
            pipeline.profile_member_insert(&member.profile, member.id, action, params)
        }
        Update::ModifyMember(member) => {
            let (action, params) = &member.action;
            pipeline.profile_member_modify(&member.profile, member.id, action, params)
        }
        Update::DeleteMember { profile, id } => pipeline.profile_member_delete(profile, *id),
        Update::InsertGroup { profile, group } => pipeline.profile_group_insert(profile, group),
        Update::ModifyGroup { profile, group } => pipeline.profile_group_modify(profile, group),
        Update::DeleteGroup { profile, id } => pipeline.profile_group_delete(profile, *id),
        Update::Counter { name, index, value } => pipeline.counter_write(name, *index, *value),
        Update::Counters { name, values } => {
            let size = pipeline.counter_size(name)?;
            values
                .of(size)
                .try_for_each(|(index, value)| pipeline.counter_write(name, index, *value))
        }
        Update::DirectCounter {
            table,
            entry,
            value,
        } => pipeline.direct_counter_write(table, entry.as_ref(), *value),
        Update::Register { name, index, value } => pipeline.register_write(name, *index, value),
        Update::Registers { name, values } => {
            let size = size(pipeline.registers().into_iter(), "register", name)?;
            values
                .of(size)
                .try_for_each(|(index, value)| pipeline.register_write(name, index, value))
        }
        Update::Meter { name, index, rates } => pipeline.meter_configure(name, *index, *rates),
        Update::Meters { name, rates } => {
            let meters = pipeline.meters().into_iter();
            let size = size(meters.map(|(name, size)| (name, size, 0)), "meter", name)?;
            rates
                .of(size)
                .try_for_each(|(index, rates)| pipeline.meter_configure(name, index, *rates))
        }
        Update::MeterCounts {
            name,
            index,
            counts,
        } => pipeline.meter_counts_write(name, *index, *counts),
        Update::MetersCounts { name, counts } => {
            let meters = pipeline.meters().into_iter();
            let size = size(meters.map(|(name, size)| (name, size, 0)), "meter", name)?;
            counts
                .of(size)
                .try_for_each(|(index, counts)| pipeline.meter_counts_write(name, index, *counts))
        }
        Update::DirectMeterCounts {
            table,
            entry,
            counts,
        } => pipeline.direct_meter_counts_write(table, entry.as_ref(), *counts),
        Update::DirectMeter {
            table,
            entry,
            rates,
        } => pipeline.direct_meter_configure(table, entry.as_ref(), *rates),
        Update::Crc {
            calculation,
            parameters,
        } => pipeline.set_custom_crc(calculation, *parameters),
        Update::ValueSet { name, members } => pipeline.value_set_write(name, members),
        Update::MulticastGroup { .. }
        | Update::MulticastWithBackups { .. }
        | Update::CloneSession { .. } => Ok(()),
    }
}

fn set_idle_timeout(pipeline: &mut Pipeline, table: &str, entry: &Entry) -> Result<(), WriteError> {
    let mut known = pipeline.table_entry(table, entry)?;
    if known.idle_timeout_ns == entry.idle_timeout_ns {
        return Ok(());
    }
    known.idle_timeout_ns = entry.idle_timeout_ns;
    pipeline.table_modify(table, &known)
}

pub(super) fn size(
    mut arrays: impl Iterator<Item = (String, usize, u32)>,
    what: &str,
    name: &str,
) -> Result<usize, WriteError> {
    match arrays.find(|(known, ..)| known == name) {
        Some((_, size, _)) => Ok(size),
        None => Err(WriteError {
            code: Code::NotFound,
            message: format!("no {what} is called {name}"),
        }),
    }
}
