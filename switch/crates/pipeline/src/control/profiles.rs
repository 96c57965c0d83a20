//! Action profiles by name. Each table of a profile has its own copy; all copies change or none.

use std::collections::BTreeSet;

use super::entry::{Group, GroupMember, Param};
use super::info::ProfileInfo;
use crate::error::{Code, Result, WriteError};
use crate::pipeline::Pipeline;
use crate::program::ActionChoice;
use crate::state::tables::profile::{self, Profile};
use crate::state::tables::{Table, WeightedMember};

/// Id, action, and parameters of a member.
pub type Member = (u32, String, Vec<Param>);

/// Errors: `NotFound` for an unknown profile, member or group, `AlreadyExists` for an id in use,
/// `ResourceExhausted` for a full profile or weights beyond a group's size, `FailedPrecondition` to
/// remove what is in use, `InvalidArgument` for an action or parameter that does not fit, a weight
/// of zero, a member given twice, and groups without a selector.
impl Pipeline {
    /// Every action profile, in the order of the tables.
    #[must_use]
    pub fn action_profiles(&self) -> Vec<ProfileInfo> {
        let mut profiles: Vec<ProfileInfo> = Vec::new();
        for table in &self.state.tables {
            let Some(profile) = &table.profile else {
                continue;
            };
            let known = profiles
                .iter_mut()
                .find(|known| known.name == profile.shape.name);
            match known {
                Some(known) => known.tables.push(table.shape.name.clone()),
                None => profiles.push(ProfileInfo {
                    name: profile.shape.name.clone(),
                    size: profile.shape.size,
                    has_selector: profile.shape.selector.is_some(),
                    tables: vec![table.shape.name.clone()],
                }),
            }
        }
        profiles
    }

    /// Adds a member.
    pub fn profile_member_insert(
        &mut self,
        profile: &str,
        id: u32,
        action: &str,
        params: &[Param],
    ) -> Result<()> {
        // Action sets of entries take room in one table's copy only.
        let exists = self.first_of(profile)?.1.member_place(id).is_ok();
        for number in self.tables_of(profile)? {
            if let (false, Some(copy)) = (exists, &self.state.tables[number].profile) {
                copy.room_for(1)?;
            }
        }
        self.member(profile, action, params, |profile, choice| {
            profile.add_member(id, choice)
        })
    }

    /// Gives a member another action; entries and groups go on using it.
    pub fn profile_member_modify(
        &mut self,
        profile: &str,
        id: u32,
        action: &str,
        params: &[Param],
    ) -> Result<()> {
        self.member(profile, action, params, |profile, choice| {
            profile.modify_member(id, choice)
        })
    }

    /// Removes a member.
    pub fn profile_member_delete(&mut self, profile: &str, id: u32) -> Result<()> {
        let users = |profile: &Profile| profile.member_users(id);
        self.unused(profile, &format!("member {id}"), users)?;
        self.each(profile, |profile| profile.remove_member(id))
    }

    /// The members of a profile, by id.
    pub fn profile_members(&self, profile: &str) -> Result<Vec<Member>> {
        let (table, profile) = self.first_of(profile)?;
        let describe = |(id, choice): (u32, &ActionChoice)| {
            let (action, params) = self.describe_choice(table, choice);
            (id, action, params)
        };
        Ok(profile.members().map(describe).collect())
    }

    /// Action and parameters of one member.
    pub fn profile_member(&self, profile: &str, id: u32) -> Result<(String, Vec<Param>)> {
        let (table, found) = self.first_of(profile)?;
        match found.members().find(|(known, _)| *known == id) {
            Some((_, choice)) => Ok(self.describe_choice(table, choice)),
            None => Err(no_such(profile, "member", id)),
        }
    }

    /// Adds a group.
    pub fn profile_group_insert(&mut self, profile: &str, group: &Group) -> Result<()> {
        self.each(profile, |profile| {
            profile.add_group(group.id, members(group), group.max_size)
        })
    }

    /// Gives a group other members. A `max_size` of zero keeps the one it has.
    pub fn profile_group_modify(&mut self, profile: &str, group: &Group) -> Result<()> {
        self.each(profile, |profile| {
            profile.modify_group(group.id, members(group), group.max_size)
        })
    }

    /// Removes a group.
    pub fn profile_group_delete(&mut self, profile: &str, id: u32) -> Result<()> {
        let users = |profile: &Profile| profile.group_users(id);
        self.unused(profile, &format!("group {id}"), users)?;
        self.each(profile, |profile| profile.remove_group(id))
    }

    /// The groups of a profile, by id.
    pub fn profile_groups(&self, profile: &str) -> Result<Vec<Group>> {
        let (_, profile) = self.first_of(profile)?;
        Ok(profile.groups().map(describe_group).collect())
    }

    /// One group of a profile.
    pub fn profile_group(&self, profile: &str, id: u32) -> Result<Group> {
        let (_, found) = self.first_of(profile)?;
        let group = found.groups().find(|(known, _)| *known == id);
        group
            .map(describe_group)
            .ok_or_else(|| no_such(profile, "group", id))
    }

    /// Has groups leave out the members that watch one of these ports, until told otherwise.
    pub fn set_ports_down(&mut self, down: &BTreeSet<u16>) {
        for table in &mut self.state.tables {
            if let Some(profile) = &mut table.profile {
                profile.set_down(down);
            }
        }
    }

    fn first_of(&self, name: &str) -> Result<(&Table, &Profile)> {
        let profile = |table| profile_of(table, name).map(|profile| (table, profile));
        let found = self.state.tables.iter().find_map(profile);
        found.ok_or_else(|| unknown(name))
    }

    fn tables_of(&self, name: &str) -> Result<Vec<usize>> {
        let has = |&number: &usize| profile_of(&self.state.tables[number], name).is_some();
        let numbers: Vec<usize> = (0..self.state.tables.len()).filter(has).collect();
        if numbers.is_empty() {
            return Err(unknown(name));
        }
        Ok(numbers)
    }

    /// Resolves an action for every table before any of them is changed.
    fn member(
        &mut self,
        name: &str,
        action: &str,
        params: &[Param],
        change: impl Fn(&mut Profile, ActionChoice) -> Result<()>,
    ) -> Result<()> {
        let mut choices = Vec::new();
        for number in self.tables_of(name)? {
            choices.push((number, self.resolve_action(number, action, params)?));
        }
        for (number, choice) in choices {
            if let Some(profile) = &mut self.state.tables[number].profile {
                change(profile, choice)?;
            }
        }
        Ok(())
    }

    /// All copies have the same ids and sizes, so that a change is refused by all or by none.
    fn each(&mut self, name: &str, change: impl Fn(&mut Profile) -> Result<()>) -> Result<()> {
        for number in self.tables_of(name)? {
            if let Some(profile) = &mut self.state.tables[number].profile {
                change(profile)?;
            }
        }
        Ok(())
    }

    /// Refuses if any table's copy is in use: only the entries of tables differ.
    fn unused(&self, name: &str, what: &str, users: impl Fn(&Profile) -> u32) -> Result<()> {
        for number in self.tables_of(name)? {
            if profile_of(&self.state.tables[number], name)
                .is_some_and(|profile| users(profile) > 0)
            {
                let message = format!("action profile {name}: {what} is in use");
                return Err(WriteError::new(Code::FailedPrecondition, message));
            }
        }
        Ok(())
    }
}

fn profile_of<'a>(table: &'a Table, name: &str) -> Option<&'a Profile> {
    let profile = table.profile.as_deref()?;
    (profile.shape.name == name).then_some(profile)
}

fn members(group: &Group) -> Vec<WeightedMember> {
    let members = group.members.iter().map(|member| WeightedMember {
        member: member.member,
        weight: member.weight,
        watch: member.watch_port.clone(),
    });
    members.collect()
}

fn describe_group((id, group): (u32, &profile::ProfileGroup)) -> Group {
    let members = group.members.iter().map(|member| GroupMember {
        member: member.member,
        weight: member.weight,
        watch_port: member.watch.clone(),
    });
    Group {
        id,
        max_size: group.max_size,
        members: members.collect(),
    }
}

fn no_such(profile: &str, what: &str, id: u32) -> WriteError {
    let message = format!("action profile {profile}: no {what} {id}");
    WriteError::new(Code::NotFound, message)
}

fn unknown(name: &str) -> WriteError {
    WriteError::new(
        Code::NotFound,
        format!("no action profile is called {name}"),
    )
}
