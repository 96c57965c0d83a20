//! Action profiles: members and groups, and the members that are default entries.

use std::collections::BTreeMap;

use phb_node::{Failure, Member, SwitchNode, Update};
use phb_pipeline::{Code, Group, GroupMember, Param, Pipeline, ProfileInfo};

use super::entries::{action, data_value, handle_of, id_of};
use super::table_code::{
    BAD_ACTION_DATA, ERROR, GRP_STILL_USED, INVALID_ACTION_PROFILE_NAME, INVALID_GRP_HANDLE,
    INVALID_MBR_HANDLE, MBR_ALREADY_IN_GRP, MBR_NOT_IN_GRP, MBR_STILL_USED,
    NO_ACTION_PROFILE_SELECTION, TABLE_FULL,
};
use crate::artifact::Artifact;
use crate::call::{Fault, Outcome, Services};
use crate::wire::{Fields, Value};

/// The members that are default entries of tables: profile and id by table.
#[derive(Default)]
pub struct DefaultMembers(BTreeMap<String, (String, u32)>);

impl DefaultMembers {
    pub fn set(&mut self, table: String, profile: String, id: u32) {
        self.0.insert(table, (profile, id));
    }

    pub fn forget(&mut self, table: &str) {
        self.0.remove(table);
    }

    pub fn of(&self, table: &str) -> Option<u32> {
        self.0.get(table).map(|(_, id)| *id)
    }

    /// The tables whose default entry a member is.
    fn tables(&self, profile: &str, id: u32) -> Vec<String> {
        let of = |(_, known): &(&String, &(String, u32))| known.0 == profile && known.1 == id;
        let tables = self.0.iter().filter(of);
        tables.map(|(table, _)| table.clone()).collect()
    }
}

pub fn call(services: &Services, method: &str, arguments: Fields<'_>) -> Outcome {
    let on = On {
        services,
        profile: arguments.text(2),
        arguments,
    };
    match method {
        "bm_mt_act_prof_add_member" => on.add_member(),
        "bm_mt_act_prof_delete_member" => on.delete_member(),
        "bm_mt_act_prof_modify_member" => on.modify_member(),
        "bm_mt_act_prof_create_group" => on.create_group(),
        "bm_mt_act_prof_delete_group" => on.delete_group(),
        "bm_mt_act_prof_add_member_to_group" => on.into_group(),
        "bm_mt_act_prof_remove_member_from_group" => on.out_of_group(),
        "bm_mt_act_prof_get_members" => on.members(),
        "bm_mt_act_prof_get_member" => on.member(),
        "bm_mt_act_prof_get_groups" => on.groups(),
        "bm_mt_act_prof_get_group" => on.group(),
        _ => Err(Fault::NoMethod),
    }
}

/// A call on an action profile.
#[derive(Clone, Copy)]
struct On<'a> {
    services: &'a Services,
    profile: &'a str,
    arguments: Fields<'a>,
}

/// Members or groups with these codes: those that are missing, those that are used.
fn refused(missing: i32, used: i32) -> impl Fn(&Failure) -> Fault {
    move |failure| match failure {
        Failure::Refused(error) => Fault::Code(match error.code {
            Code::NotFound => missing,
            Code::FailedPrecondition => used,
            Code::ResourceExhausted => TABLE_FULL,
            Code::InvalidArgument => BAD_ACTION_DATA,
            _ => ERROR,
        }),
        Failure::NoPipeline => Fault::other("the switch has no program"),
        Failure::Aborted => Fault::Code(ERROR),
    }
}

/// The least id that is free, as bmv2 gives handles.
fn free(taken: impl Iterator<Item = u32>) -> u32 {
    let mut taken: Vec<u32> = taken.collect();
    taken.sort_unstable();
    let places = taken.iter().zip(1..);
    let free = places.take_while(|(id, place)| **id == *place).count();
    u32::try_from(free).unwrap_or(u32::MAX).saturating_add(1)
}

impl On<'_> {
    fn info(self, pipeline: &Pipeline) -> Result<ProfileInfo, Fault> {
        let mut profiles = pipeline.action_profiles().into_iter();
        let found = profiles.find(|known| known.name == self.profile);
        found.ok_or(Fault::Code(INVALID_ACTION_PROFILE_NAME))
    }

    fn with_selector(self, pipeline: &Pipeline) -> Result<(), Fault> {
        match self.info(pipeline)?.has_selector {
            true => Ok(()),
            false => Err(Fault::Code(NO_ACTION_PROFILE_SELECTION)),
        }
    }

    /// The action that the arguments from `place` on say.
    fn action(
        self,
        artifact: &Artifact,
        pipeline: &Pipeline,
        place: i16,
    ) -> Result<(String, Vec<Param>), Fault> {
        let info = self.info(pipeline)?;
        let table = info.tables.first().and_then(|name| artifact.table(name));
        let Some(table) = table else {
            return Err(Fault::Code(INVALID_ACTION_PROFILE_NAME));
        };
        action(
            table,
            self.arguments.text(place),
            self.arguments.list(place + 1),
        )
    }

    fn add_member(self) -> Outcome {
        let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let action = self.action(artifact, pipeline, 3)?;
            let members = pipeline.profile_members(self.profile).unwrap_or_default();
            let id = free(members.iter().map(|(id, ..)| *id));
            let profile = self.profile.to_owned();
            let member = Member {
                profile,
                id,
                action,
            };
            Ok((vec![Update::InsertMember(member)], id))
        };
        let refused = refused(INVALID_MBR_HANDLE, MBR_STILL_USED);
        let done = |_: &Pipeline, id| Ok(Value::I32(handle_of(id)));
        self.services.change(plan, refused, done)
    }

    /// A default entry that the member is gets the new action, too.
    fn modify_member(self) -> Outcome {
        let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let action = self.action(artifact, pipeline, 4)?;
            let id = id_of(self.arguments.int(3));
            let tables = self
                .services
                .kept()
                .default_members
                .tables(self.profile, id);
            let member = Member {
                profile: self.profile.to_owned(),
                id,
                action: action.clone(),
            };
            let defaults = tables.into_iter().map(|table| Update::DefaultAction {
                table,
                action: Some(action.clone()),
            });
            Ok(std::iter::once(Update::ModifyMember(member))
                .chain(defaults)
                .collect())
        };
        let refused = refused(INVALID_MBR_HANDLE, MBR_STILL_USED);
        self.services.make(plan, refused)
    }

    fn delete_member(self) -> Outcome {
        let plan = |_: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let id = id_of(self.arguments.int(3));
            self.info(pipeline)?;
            let defaults = self
                .services
                .kept()
                .default_members
                .tables(self.profile, id);
            if !defaults.is_empty() {
                return Err(Fault::Code(MBR_STILL_USED));
            }
            let profile = self.profile.to_owned();
            Ok(vec![Update::DeleteMember { profile, id }])
        };
        let refused = refused(INVALID_MBR_HANDLE, MBR_STILL_USED);
        self.services.make(plan, refused)
    }

    fn create_group(self) -> Outcome {
        let plan = |_: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            self.with_selector(pipeline)?;
            let groups = pipeline.profile_groups(self.profile).unwrap_or_default();
            let id = free(groups.iter().map(|group| group.id));
            let profile = self.profile.to_owned();
            let group = Group {
                id,
                ..Group::default()
            };
            Ok((vec![Update::InsertGroup { profile, group }], id))
        };
        let refused = refused(INVALID_GRP_HANDLE, GRP_STILL_USED);
        let done = |_: &Pipeline, id| Ok(Value::I32(handle_of(id)));
        self.services.change(plan, refused, done)
    }

    fn delete_group(self) -> Outcome {
        let plan = |_: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            self.with_selector(pipeline)?;
            let (profile, id) = (self.profile.to_owned(), id_of(self.arguments.int(3)));
            Ok(vec![Update::DeleteGroup { profile, id }])
        };
        let refused = refused(INVALID_GRP_HANDLE, GRP_STILL_USED);
        self.services.make(plan, refused)
    }

    /// Member and group of arguments 3 and 4, which exist.
    fn member_and_group(self, pipeline: &Pipeline) -> Result<(u32, Group), Fault> {
        self.with_selector(pipeline)?;
        let member = id_of(self.arguments.int(3));
        if pipeline.profile_member(self.profile, member).is_err() {
            return Err(Fault::Code(INVALID_MBR_HANDLE));
        }
        let group = pipeline.profile_group(self.profile, id_of(self.arguments.int(4)));
        let group = group.map_err(|_| Fault::Code(INVALID_GRP_HANDLE))?;
        Ok((member, group))
    }

    fn into_group(self) -> Outcome {
        let plan = |_: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let (member, mut group) = self.member_and_group(pipeline)?;
            if group.members.iter().any(|known| known.member == member) {
                return Err(Fault::Code(MBR_ALREADY_IN_GRP));
            }
            group.members.push(GroupMember {
                member,
                weight: 1,
                watch_port: Vec::new(),
            });
            let profile = self.profile.to_owned();
            Ok(vec![Update::ModifyGroup { profile, group }])
        };
        self.services.make(plan, refused(INVALID_GRP_HANDLE, ERROR))
    }

    fn out_of_group(self) -> Outcome {
        let plan = |_: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let (member, mut group) = self.member_and_group(pipeline)?;
            let before = group.members.len();
            group.members.retain(|known| known.member != member);
            if group.members.len() == before {
                return Err(Fault::Code(MBR_NOT_IN_GRP));
            }
            let profile = self.profile.to_owned();
            Ok(vec![Update::ModifyGroup { profile, group }])
        };
        self.services.make(plan, refused(INVALID_GRP_HANDLE, ERROR))
    }

    /// bmv2 gives an empty list for a profile that there is not.
    fn members(self) -> Outcome {
        self.services.read(|_, pipeline| {
            let members = pipeline.profile_members(self.profile).unwrap_or_default();
            let members = members.iter();
            let values = members.map(|(id, action, params)| member_value(*id, action, params));
            Ok(Value::List(values.collect()))
        })
    }

    fn member(self) -> Outcome {
        self.services.read(|_, pipeline| {
            self.info(pipeline)?;
            let id = id_of(self.arguments.int(3));
            match pipeline.profile_member(self.profile, id) {
                Ok((action, params)) => Ok(member_value(id, &action, &params)),
                Err(_) => Err(Fault::Code(INVALID_MBR_HANDLE)),
            }
        })
    }

    fn groups(self) -> Outcome {
        self.services.read(|_, pipeline| {
            let groups = pipeline.profile_groups(self.profile).unwrap_or_default();
            Ok(Value::List(groups.iter().map(group_value).collect()))
        })
    }

    fn group(self) -> Outcome {
        self.services.read(|_, pipeline| {
            self.info(pipeline)?;
            let group = pipeline.profile_group(self.profile, id_of(self.arguments.int(3)));
            match group {
                Ok(group) => Ok(group_value(&group)),
                Err(_) => Err(Fault::Code(INVALID_GRP_HANDLE)),
            }
        })
    }
}

fn member_value(id: u32, action: &str, params: &[Param]) -> Value {
    Value::Struct(vec![
        (1, Value::I32(handle_of(id))),
        (2, action.into()),
        (3, data_value(params)),
    ])
}

fn group_value(group: &Group) -> Value {
    let members = group.members.iter();
    let members = members.map(|member| Value::I32(handle_of(member.member)));
    Value::Struct(vec![
        (1, Value::I32(handle_of(group.id))),
        (2, Value::List(members.collect())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_free_id() {
        for (taken, expected) in [
            (&[][..], 1),
            (&[1, 2, 3], 4),
            (&[3, 1], 2),
            (&[2, 9], 1),
            (&[1, 2, u32::MAX], 3),
        ] {
            assert_eq!(free(taken.iter().copied()), expected, "{taken:?}");
        }
    }
}
