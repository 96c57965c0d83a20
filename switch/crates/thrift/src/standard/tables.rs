//! Tables: entries by handle, and default actions.

use phb_node::{Failure, SwitchNode, Update};
use phb_pipeline::{Code, Entry, Indirect, Pipeline, TableInfo, WriteError};
use thrift::protocol::TType;

use super::entries::{action, action_value, entry_value, id_of, key, member_value};
use super::table_code::{
    AGEING_DISABLED, BAD_MATCH_KEY, DEFAULT_ENTRY_IS_CONST, DUPLICATE_ENTRY, EMPTY_GRP, ERROR,
    EXPIRED_HANDLE, IMMUTABLE_TABLE_ENTRIES, INVALID_GRP_HANDLE, INVALID_HANDLE,
    INVALID_MBR_HANDLE, INVALID_TABLE_NAME, WRONG_TABLE_TYPE,
};
use super::table_fault;
use crate::artifact::Artifact;
use crate::call::{Fault, Outcome, Services};
use crate::limits;
use crate::wire::{Fields, Value, encode};

const MILLISECOND: u64 = 1_000_000;

pub fn call(services: &Services, method: &str, arguments: Fields<'_>) -> Outcome {
    let on = On::new(services, arguments);
    match method {
        "bm_mt_get_num_entries" => on.length(),
        "bm_mt_clear_entries" => on.clear(),
        "bm_mt_add_entry" => on.add(Kind::Direct, 6),
        "bm_mt_indirect_add_entry" => on.add(Kind::Member, 5),
        "bm_mt_indirect_ws_add_entry" => on.add(Kind::Group, 5),
        "bm_mt_modify_entry" => on.modify(Kind::Direct),
        "bm_mt_indirect_modify_entry" => on.modify(Kind::Member),
        "bm_mt_indirect_ws_modify_entry" => on.modify(Kind::Group),
        "bm_mt_delete_entry" => on.delete(Kind::Direct),
        "bm_mt_indirect_delete_entry" => on.delete(Kind::Member),
        "bm_mt_set_entry_ttl" | "bm_mt_indirect_set_entry_ttl" => on.set_timeout(),
        "bm_mt_set_default_action" => on.set_default(),
        "bm_mt_reset_default_entry" => on.reset_default(Kind::Direct),
        "bm_mt_indirect_reset_default_entry" => on.reset_default(Kind::Member),
        "bm_mt_indirect_set_default_member" => on.set_default_member(),
        // The pipeline's default actions are actions.
        "bm_mt_indirect_ws_set_default_group" => Err(Fault::Code(ERROR)),
        "bm_mt_get_default_entry" => on.default(),
        "bm_mt_get_entries" => on.entries(),
        "bm_mt_get_entry" => on.entry(),
        "bm_mt_get_entry_from_key" => on.entry_of_key(),
        _ => Err(Fault::NoMethod),
    }
}

/// What the entries of a table lead to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Direct,
    Member,
    Group,
}

/// A call on a table, or on one of its entries.
#[derive(Clone, Copy)]
pub(super) struct On<'a> {
    pub(super) services: &'a Services,
    pub(super) table: &'a str,
    pub(super) arguments: Fields<'a>,
}

impl<'a> On<'a> {
    pub(super) fn new(services: &'a Services, arguments: Fields<'a>) -> Self {
        Self {
            services,
            table: arguments.text(2),
            arguments,
        }
    }

    pub(super) fn handle(self) -> i32 {
        self.arguments.int(3)
    }
}

pub(super) fn known<'a>(artifact: &'a Artifact, name: &str) -> Result<&'a TableInfo, Fault> {
    let table = artifact.table(name);
    table.ok_or(Fault::Code(INVALID_TABLE_NAME))
}

/// The table, if its entries can lead to such a thing.
fn of_kind<'a>(
    artifact: &'a Artifact,
    pipeline: &Pipeline,
    name: &str,
    kind: Kind,
) -> Result<&'a TableInfo, Fault> {
    let table = known(artifact, name)?;
    let fits = match (&table.action_profile, kind) {
        (None, kind) => kind == Kind::Direct,
        (Some(_), Kind::Direct) => false,
        (Some(_), Kind::Member) => true,
        (Some(profile), Kind::Group) => {
            let mut profiles = pipeline.action_profiles().into_iter();
            profiles.any(|known| known.name == *profile && known.has_selector)
        }
    };
    if fits {
        Ok(table)
    } else {
        Err(Fault::Code(WRONG_TABLE_TYPE))
    }
}

pub(super) fn by_handle(pipeline: &Pipeline, table: &str, handle: i32) -> Result<Entry, Fault> {
    let entry = pipeline.table_entry_of(table, handle.cast_unsigned());
    entry.map_err(|error| {
        Fault::Code(match error.code {
            Code::FailedPrecondition => EXPIRED_HANDLE,
            _ => INVALID_HANDLE,
        })
    })
}

pub(super) fn error(_: WriteError) -> Fault {
    Fault::Code(ERROR)
}

/// As refusals of a change to an entry that is there.
pub(super) fn of_entry(failure: &Failure) -> Fault {
    table_fault(failure, DUPLICATE_ENTRY, INVALID_HANDLE, BAD_MATCH_KEY)
}

impl On<'_> {
    fn length(self) -> Outcome {
        self.services.read(|artifact, pipeline| {
            let table = known(artifact, self.table)?;
            let length = pipeline.table_length(&table.name).map_err(error)?;
            Ok(Value::I64(i64::try_from(length).unwrap_or(i64::MAX)))
        })
    }

    /// What an entry leads to, as the arguments from `place` on say.
    fn choice(
        self,
        pipeline: &Pipeline,
        table: &TableInfo,
        kind: Kind,
        place: i16,
        entry: &mut Entry,
    ) -> Result<(), Fault> {
        let profile = table.action_profile.as_deref().unwrap_or_default();
        match kind {
            Kind::Direct => {
                let (name, data) = (self.arguments.text(place), self.arguments.list(place + 1));
                (entry.action, entry.params) = action(table, name, data)?;
            }
            Kind::Member => {
                let id = id_of(self.arguments.int(place));
                if pipeline.profile_member(profile, id).is_err() {
                    return Err(Fault::Code(INVALID_MBR_HANDLE));
                }
                entry.indirect = Some(Indirect::Member(id));
            }
            Kind::Group => {
                let id = id_of(self.arguments.int(place));
                match pipeline.profile_group(profile, id) {
                    Err(_) => return Err(Fault::Code(INVALID_GRP_HANDLE)),
                    Ok(group) if group.members.is_empty() => return Err(Fault::Code(EMPTY_GRP)),
                    Ok(_) => entry.indirect = Some(Indirect::Group(id)),
                }
            }
        }
        Ok(())
    }

    fn add(self, kind: Kind, options: i16) -> Outcome {
        let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let table = of_kind(artifact, pipeline, self.table, kind)?;
            if table.constant_entries {
                return Err(Fault::Code(IMMUTABLE_TABLE_ENTRIES));
            }
            let (matches, options) = (self.arguments.list(3), self.arguments.fields(options));
            let mut entry = key(table, matches, options)?;
            self.choice(pipeline, table, kind, 4, &mut entry)?;
            let table = table.name.clone();
            let added = entry.clone();
            Ok((vec![Update::Insert { table, entry }], added))
        };
        self.services.change(plan, of_entry, |pipeline, added| {
            let handle = pipeline.table_handle(self.table, &added);
            handle
                .map(|handle| Value::I32(handle.cast_signed()))
                .map_err(error)
        })
    }

    fn modify(self, kind: Kind) -> Outcome {
        let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let table = of_kind(artifact, pipeline, self.table, kind)?;
            let mut entry = by_handle(pipeline, &table.name, self.handle())?;
            entry.indirect = None;
            self.choice(pipeline, table, kind, 4, &mut entry)?;
            let table = table.name.clone();
            Ok(vec![Update::Modify { table, entry }])
        };
        self.services.make(plan, of_entry)
    }

    fn delete(self, kind: Kind) -> Outcome {
        let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let table = of_kind(artifact, pipeline, self.table, kind)?.name.clone();
            let entry = by_handle(pipeline, &table, self.handle())?;
            Ok(vec![Update::Delete { table, entry }])
        };
        self.services.make(plan, of_entry)
    }

    /// Removes entries some at a time: packets must not wait for long.
    fn clear(self) -> Outcome {
        loop {
            let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
                let table = known(artifact, self.table)?;
                if table.constant_entries {
                    return Err(Fault::Code(IMMUTABLE_TABLE_ENTRIES));
                }
                let entries = pipeline.table_entries_from(&table.name, 0, limits::AT_A_TIME);
                let (entries, more) = entries.map_err(error)?;
                let delete = |entry| Update::Delete {
                    table: table.name.clone(),
                    entry,
                };
                let mut updates: Vec<Update> = entries.into_iter().map(delete).collect();
                if more.is_none() && self.arguments.flag(3) && !table.constant_default {
                    updates.push(Update::DefaultAction {
                        table: table.name.clone(),
                        action: None,
                    });
                }
                Ok((updates, more.is_some()))
            };
            if !self.services.change(plan, of_entry, |_, more| Ok(more))? {
                return Ok(Value::Void);
            }
        }
    }

    fn set_timeout(self) -> Outcome {
        let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let table = known(artifact, self.table)?;
            if !table.idle_timeouts {
                return Err(Fault::Code(AGEING_DISABLED));
            }
            let mut entry = by_handle(pipeline, &table.name, self.handle())?;
            let timeout = u64::from(self.arguments.int(4).cast_unsigned());
            entry.idle_timeout_ns = timeout * MILLISECOND;
            let table = table.name.clone();
            Ok(vec![Update::IdleTimeout { table, entry }])
        };
        self.services.make(plan, of_entry)
    }

    fn set_default(self) -> Outcome {
        let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let table = of_kind(artifact, pipeline, self.table, Kind::Direct)?;
            let (name, data) = (self.arguments.text(3), self.arguments.list(4));
            let action = Some(action(table, name, data)?);
            let table = table.name.clone();
            Ok(vec![Update::DefaultAction { table, action }])
        };
        self.services.make(plan, of_default)
    }

    fn reset_default(self, kind: Kind) -> Outcome {
        let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let table = of_kind(artifact, pipeline, self.table, kind)?.name.clone();
            self.services.kept().default_members.forget(&table);
            let action = None;
            Ok(vec![Update::DefaultAction { table, action }])
        };
        self.services.make(plan, of_default)
    }

    /// The pipeline knows no default members: the member's action becomes the default action.
    fn set_default_member(self) -> Outcome {
        let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let table = of_kind(artifact, pipeline, self.table, Kind::Member)?;
            let profile = table.action_profile.as_deref().unwrap_or_default();
            let id = id_of(self.arguments.int(3));
            let Ok(action) = pipeline.profile_member(profile, id) else {
                return Err(Fault::Code(INVALID_MBR_HANDLE));
            };
            let updates = vec![Update::DefaultAction {
                table: table.name.clone(),
                action: Some(action),
            }];
            Ok((updates, (table.name.clone(), profile.to_owned(), id)))
        };
        self.services
            .change(plan, of_default, |_, (table, profile, id)| {
                self.services.kept().default_members.set(table, profile, id);
                Ok(Value::Void)
            })
    }

    fn default(self) -> Outcome {
        self.services.read(|artifact, pipeline| {
            let table = known(artifact, self.table)?;
            let member = self.services.kept().default_members.of(&table.name);
            let default = pipeline.default_action(&table.name).map_err(error)?;
            Ok(match (&default, member, &table.action_profile) {
                (Some(_), Some(id), Some(_)) => member_value(id),
                (Some((name, params)), _, None) => action_value(Some((name, params))),
                _ => action_value(None),
            })
        })
    }

    /// All entries, some at a time; what is written meanwhile may be missing.
    fn entries(self) -> Outcome {
        let (mut bytes, mut count, mut next) = (Vec::new(), 0, Some(0));
        while let Some(cursor) = next {
            let node = self.services.node();
            let artifact = self.services.artifact(&node)?;
            let Some(pipeline) = node.pipeline() else {
                return Err(Fault::Code(ERROR));
            };
            let table = known(&artifact, self.table)?;
            let some = pipeline.table_handles_from(&table.name, cursor, limits::AT_A_TIME);
            let (entries, more) = some.map_err(error)?;
            next = more;
            count += entries.len();
            for (handle, entry) in entries {
                let idle = idle_ns(&node, pipeline, &table.name, &entry);
                let value = entry_value(&artifact, table, handle, &entry, idle);
                encode(&value, &mut bytes);
            }
            if bytes.len() > limits::HELD_BYTES {
                let words = format!("the entries are more than {} bytes", limits::HELD_BYTES);
                return Err(Fault::other(words));
            }
        }
        Ok(Value::Encoded(TType::Struct, count, bytes))
    }

    fn entry(self) -> Outcome {
        let node = self.services.node();
        let artifact = self.services.artifact(&node)?;
        let Some(pipeline) = node.pipeline() else {
            return Err(Fault::Code(ERROR));
        };
        let table = known(&artifact, self.table)?;
        let entry = by_handle(pipeline, &table.name, self.handle())?;
        let idle = idle_ns(&node, pipeline, &table.name, &entry);
        let handle = self.handle().cast_unsigned();
        Ok(entry_value(&artifact, table, handle, &entry, idle))
    }

    /// Without a key, the default entry.
    fn entry_of_key(self) -> Outcome {
        if self.arguments.list(3).is_empty() {
            let default = self.default()?;
            return Ok(Value::Struct(vec![
                (1, Value::List(Vec::new())),
                (2, Value::Struct(Vec::new())),
                (3, Value::I32(0)),
                (4, default),
            ]));
        }
        let node = self.services.node();
        let artifact = self.services.artifact(&node)?;
        let Some(pipeline) = node.pipeline() else {
            return Err(Fault::Code(ERROR));
        };
        let table = known(&artifact, self.table)?;
        let wanted = key(table, self.arguments.list(3), self.arguments.fields(4))?;
        let found = pipeline
            .table_handle(&table.name, &wanted)
            .and_then(|handle| Ok((handle, pipeline.table_entry(&table.name, &wanted)?)));
        let Ok((handle, entry)) = found else {
            return Err(Fault::Code(BAD_MATCH_KEY));
        };
        let idle = idle_ns(&node, pipeline, &table.name, &entry);
        Ok(entry_value(&artifact, table, handle, &entry, idle))
    }
}

fn of_default(failure: &Failure) -> Fault {
    match failure {
        Failure::Refused(error) if error.code == Code::PermissionDenied => {
            Fault::Code(DEFAULT_ENTRY_IS_CONST)
        }
        other => of_entry(other),
    }
}

/// Since an entry was last hit; 0 before the first look at it.
fn idle_ns(node: &SwitchNode, pipeline: &Pipeline, table: &str, entry: &Entry) -> u64 {
    if entry.idle_timeout_ns == 0 {
        return 0;
    }
    let last = pipeline.last_hit(table, entry).ok().flatten();
    last.map_or(0, |last| node.now().saturating_sub(last))
}
