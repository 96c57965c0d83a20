//! Action profiles: an entry takes a member, or a group from which the selector's hash picks a
//! member. Each table has its own copy of a shared profile, because an action has another number in
//! each table; the control plane changes all copies.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{SetMember, WeightedMember};
use crate::bits::Writer;
use crate::error::{Code, WriteError};
use crate::packet::Packet;
use crate::program::{ActionChoice, ProfileShape, Selector};

/// The hash of a packet that picks a member.
fn hash(selector: &Selector, packet: &Packet, scratch: &mut Vec<u8>) -> u64 {
    scratch.clear();
    let mut writer = Writer::new(scratch);
    for &(slot, bits, valid) in &selector.fields {
        if valid.is_none_or(|valid| packet.word(valid) != 0) {
            packet.write_field(&mut writer, slot, bits);
        }
    }
    writer.finish();
    selector.algorithm.hash(scratch)
}

#[derive(Debug, Clone)]
pub(crate) struct ProfileMember {
    /// `None` in an entry's own action set.
    id: Option<u32>,
    pub(crate) choice: ActionChoice,
    /// Number of entries and groups with it.
    users: u32,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ProfileGroup {
    id: Option<u32>,
    pub(crate) members: Vec<WeightedMember>,
    pub(crate) max_size: u32,
    /// Places of the members whose watched port isn't down, each as often as it weighs.
    picks: Vec<u32>,
    users: u32,
}

/// Members and groups stand at places that never change; ids are the control plane's.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) shape: ProfileShape,
    scratch: Vec<u8>,
    members: Places<ProfileMember>,
    groups: Places<ProfileGroup>,
    member_ids: BTreeMap<u32, u32>,
    group_ids: BTreeMap<u32, u32>,
    /// Ports that are down.
    down: BTreeSet<u16>,
}

/// The most picks of a group, to bound the memory that weights take.
pub(crate) const MOST_PICKS: u64 = 1 << 16;

type Result<T> = std::result::Result<T, WriteError>;

fn refuse<T>(code: Code, message: String) -> Result<T> {
    Err(WriteError::new(code, message))
}

#[derive(Debug)]
struct Places<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Places<T> {
    fn get(&self, place: u32) -> Option<&T> {
        self.items.get(place as usize)?.as_ref()
    }

    fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.items.get_mut(place as usize)?.as_mut()
    }

    fn put(&mut self, item: T) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.items.push(None);
            self.items.len() as u32 - 1
        });
        self.items[place as usize] = Some(item);
        place
    }

    fn take(&mut self, place: u32) -> Option<T> {
        let item = self.items.get_mut(place as usize)?.take();
        if item.is_some() {
            self.free.push(place);
        }
        item
    }

    fn count(&self) -> usize {
        self.items.len() - self.free.len()
    }
}

impl Profile {
    pub(crate) fn new(shape: ProfileShape) -> Self {
        Self {
            shape,
            scratch: Vec::new(),
            members: Places::default(),
            groups: Places::default(),
            member_ids: BTreeMap::new(),
            group_ids: BTreeMap::new(),
            down: BTreeSet::new(),
        }
    }

    /// Leaves out the members of groups that watch one of these ports.
    pub(crate) fn set_down(&mut self, down: &BTreeSet<u16>) {
        self.down.clone_from(down);
        for place in 0..self.groups.items.len() as u32 {
            let Some(group) = self.groups.get(place) else {
                continue;
            };
            let of_set = group.id.is_none();
            let members = group.members.iter();
            let places = members.filter_map(|member| match of_set {
                true => Some(member.member),
                false => self.member_place(member.member).ok(),
            });
            let places: Vec<u32> = places.collect();
            let picks = self.picks(&group.members, &places);
            if let Some(group) = self.groups.get_mut(place) {
                group.picks = picks;
            }
        }
    }

    fn picks(&self, members: &[WeightedMember], places: &[u32]) -> Vec<u32> {
        let mut picks = Vec::new();
        for (member, &place) in members.iter().zip(places) {
            if !watched(&member.watch).is_some_and(|port| self.down.contains(&port)) {
                picks.extend(std::iter::repeat_n(place, member.weight as usize));
            }
        }
        picks
    }

    pub(crate) fn clear(&mut self) {
        self.members = Places::default();
        self.groups = Places::default();
        self.member_ids.clear();
        self.group_ids.clear();
    }

    #[inline]
    pub(crate) fn member(&self, place: u32) -> Option<&ActionChoice> {
        let member = self.members.get(place)?;
        Some(&member.choice)
    }

    /// The action of a packet from a group; `None` of an empty one.
    pub(crate) fn pick(&mut self, place: u32, packet: &Packet) -> Option<&ActionChoice> {
        let member = self.picked(place, packet)?;
        self.member(member)
    }

    /// The id of the member that a packet takes from a group.
    pub(crate) fn picked_id(&mut self, place: u32, packet: &Packet) -> Option<u32> {
        let member = self.picked(place, packet)?;
        self.id_of(member)
    }

    /// The id of the member at a place; none in an entry's own action set.
    pub(crate) fn id_of(&self, place: u32) -> Option<u32> {
        self.members.get(place)?.id
    }

    fn picked(&mut self, place: u32, packet: &Packet) -> Option<u32> {
        let group = self.groups.get(place)?;
        let count = group.picks.len() as u64;
        let pick = match &self.shape.selector {
            Some(selector) if count > 1 => hash(selector, packet, &mut self.scratch) % count,
            _ => 0,
        };
        group.picks.get(usize::try_from(pick).ok()?).copied()
    }

    pub(crate) fn member_place(&self, id: u32) -> Result<u32> {
        match self.member_ids.get(&id) {
            Some(place) => Ok(*place),
            None => refuse(
                Code::NotFound,
                format!("action profile {}: no member {id}", self.shape.name),
            ),
        }
    }

    pub(crate) fn group_place(&self, id: u32) -> Result<u32> {
        match self.group_ids.get(&id) {
            Some(place) => Ok(*place),
            None => refuse(
                Code::NotFound,
                format!("action profile {}: no group {id}", self.shape.name),
            ),
        }
    }

    pub(crate) fn member_id(&self, place: u32) -> Option<u32> {
        self.members.get(place)?.id
    }

    pub(crate) fn group_id(&self, place: u32) -> Option<u32> {
        self.groups.get(place)?.id
    }

    pub(crate) fn member_users(&self, id: u32) -> u32 {
        let place = self.member_ids.get(&id);
        let member = place.and_then(|&place| self.members.get(place));
        member.map_or(0, |member| member.users)
    }

    pub(crate) fn group_users(&self, id: u32) -> u32 {
        let place = self.group_ids.get(&id);
        let group = place.and_then(|&place| self.groups.get(place));
        group.map_or(0, |group| group.users)
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (u32, &ActionChoice)> {
        let choice = |(&id, &place): (&u32, &u32)| self.member(place).map(|choice| (id, choice));
        self.member_ids.iter().filter_map(choice)
    }

    pub(crate) fn groups(&self) -> impl Iterator<Item = (u32, &ProfileGroup)> {
        let group = |(&id, &place): (&u32, &u32)| {
            let group = self.groups.get(place)?;
            Some((id, group))
        };
        self.group_ids.iter().filter_map(group)
    }

    pub(crate) fn action_set(&self, place: u32) -> Vec<SetMember> {
        let Some(group) = self.groups.get(place) else {
            return Vec::new();
        };
        let mut members = Vec::new();
        // In a set, `member` is the place.
        for member in &group.members {
            if let Some(choice) = self.member(member.member) {
                members.push(SetMember {
                    choice: choice.clone(),
                    weight: member.weight,
                    watch: member.watch.clone(),
                });
            }
        }
        members
    }

    /// Refuses if there is no room for so many more members.
    pub(crate) fn room_for(&self, count: usize) -> Result<()> {
        if self.members.count() + count > self.shape.size as usize {
            let message = format!(
                "action profile {} is full: it holds {} members",
                self.shape.name, self.shape.size
            );
            return refuse(Code::ResourceExhausted, message);
        }
        Ok(())
    }

    pub(crate) fn add_member(&mut self, id: u32, choice: ActionChoice) -> Result<()> {
        if self.member_ids.contains_key(&id) {
            let message = format!("action profile {}: member {id} exists", self.shape.name);
            return refuse(Code::AlreadyExists, message);
        }
        self.room_for(1)?;
        let member = ProfileMember {
            id: Some(id),
            choice,
            users: 0,
        };
        let place = self.members.put(member);
        self.member_ids.insert(id, place);
        Ok(())
    }

    pub(crate) fn modify_member(&mut self, id: u32, choice: ActionChoice) -> Result<()> {
        let place = self.member_place(id)?;
        if let Some(member) = self.members.get_mut(place) {
            member.choice = choice;
        }
        Ok(())
    }

    /// Removes a member that nothing uses.
    pub(crate) fn remove_member(&mut self, id: u32) -> Result<()> {
        let place = self.member_place(id)?;
        self.members.take(place);
        self.member_ids.remove(&id);
        Ok(())
    }

    /// Checks a group's content; the places of its members.
    fn places(&self, id: u32, members: &[WeightedMember], max_size: u32) -> Result<Vec<u32>> {
        if self.shape.selector.is_none() {
            let message = format!(
                "action profile {} has no selector, so no groups",
                self.shape.name
            );
            return refuse(Code::InvalidArgument, message);
        }
        let mut places = Vec::with_capacity(members.len());
        for (position, member) in members.iter().enumerate() {
            let known = members[..position].iter();
            if known.into_iter().any(|known| known.member == member.member) {
                let message = format!(
                    "action profile {}, group {id}: member {} is given twice",
                    self.shape.name, member.member
                );
                return refuse(Code::InvalidArgument, message);
            }
            places.push(self.member_place(member.member)?);
        }
        let place = format!("action profile {}, group {id}", self.shape.name);
        check_weights(&place, members, max_size)?;
        Ok(places)
    }

    pub(crate) fn add_group(
        &mut self,
        id: u32,
        members: Vec<WeightedMember>,
        max_size: u32,
    ) -> Result<()> {
        if self.group_ids.contains_key(&id) {
            let message = format!("action profile {}: group {id} exists", self.shape.name);
            return refuse(Code::AlreadyExists, message);
        }
        let places = self.places(id, &members, max_size)?;
        let group = self.made(Some(id), members, max_size, &places);
        let place = self.groups.put(group);
        self.group_ids.insert(id, place);
        Ok(())
    }

    pub(crate) fn modify_group(
        &mut self,
        id: u32,
        members: Vec<WeightedMember>,
        max_size: u32,
    ) -> Result<()> {
        let place = self.group_place(id)?;
        let before = self.groups.get(place).cloned().unwrap_or_default();
        let max_size = if max_size == 0 {
            before.max_size
        } else {
            max_size
        };
        let places = self.places(id, &members, max_size)?;
        let group = ProfileGroup {
            users: before.users,
            ..self.made(Some(id), members, max_size, &places)
        };
        self.release_members(&before);
        if let Some(known) = self.groups.get_mut(place) {
            *known = group;
        }
        Ok(())
    }

    /// Removes a group that no entry has.
    pub(crate) fn remove_group(&mut self, id: u32) -> Result<()> {
        let place = self.group_place(id)?;
        let group = self.groups.get(place).cloned().unwrap_or_default();
        self.release_members(&group);
        self.groups.take(place);
        self.group_ids.remove(&id);
        Ok(())
    }

    fn made(
        &mut self,
        id: Option<u32>,
        members: Vec<WeightedMember>,
        max_size: u32,
        places: &[u32],
    ) -> ProfileGroup {
        let picks = self.picks(&members, places);
        for &place in places {
            if let Some(member) = self.members.get_mut(place) {
                member.users += 1;
            }
        }
        ProfileGroup {
            id,
            members,
            max_size,
            picks,
            users: 0,
        }
    }

    fn release_members(&mut self, group: &ProfileGroup) {
        for member in &group.members {
            if let Ok(place) = self.member_place(member.member)
                && let Some(member) = self.members.get_mut(place)
            {
                member.users -= 1;
            }
        }
    }

    /// Makes an entry's own action set a group without id; its place.
    pub(crate) fn add_set(&mut self, set: &[SetMember]) -> Result<u32> {
        let place = format!("action profile {}, action set", self.shape.name);
        if self.shape.selector.is_none() {
            let message = format!("{place}: the profile has no selector, so no action sets");
            return refuse(Code::InvalidArgument, message);
        }
        self.room_for(set.len())?;
        let mut members: Vec<WeightedMember> = Vec::with_capacity(set.len());
        for member in set {
            members.push(WeightedMember {
                member: 0,
                weight: member.weight,
                watch: member.watch.clone(),
            });
        }
        check_weights(&place, &members, 0)?;
        for (member, given) in members.iter_mut().zip(set) {
            let made = ProfileMember {
                id: None,
                choice: given.choice.clone(),
                users: 0,
            };
            member.member = self.members.put(made);
        }
        let places: Vec<u32> = members.iter().map(|member| member.member).collect();
        let group = self.made(None, members, 0, &places);
        Ok(self.groups.put(group))
    }

    pub(crate) fn use_member(&mut self, place: u32, more: bool) {
        if let Some(member) = self.members.get_mut(place) {
            member.users = add(member.users, more);
        }
    }

    /// Counts an entry of a group in or out; an entry's own set goes with it.
    pub(crate) fn use_group(&mut self, place: u32, more: bool) {
        let Some(group) = self.groups.get_mut(place) else {
            return;
        };
        group.users = add(group.users, more);
        if group.id.is_none() && group.users == 0 {
            let members = std::mem::take(&mut group.members);
            self.groups.take(place);
            for member in members {
                self.members.take(member.member);
            }
        }
    }
}

/// The port that a member watches; none, if it is no port of this switch.
fn watched(port: &[u8]) -> Option<u16> {
    let digits = port.iter().skip_while(|digit| **digit == 0);
    (!port.is_empty())
        .then(|| digits.fold(0, |number, digit| number << 8 | u64::from(*digit)))
        .and_then(|number| u16::try_from(number).ok())
}

fn add(users: u32, more: bool) -> u32 {
    if more {
        users + 1
    } else {
        users.saturating_sub(1)
    }
}

/// Weights are above zero, and together within the size of the group.
fn check_weights(place: &str, members: &[WeightedMember], max_size: u32) -> Result<()> {
    if members.iter().any(|member| member.weight == 0) {
        let message = format!("{place}: a weight of zero; expected one above");
        return refuse(Code::InvalidArgument, message);
    }
    let weights: u64 = members.iter().map(|member| u64::from(member.weight)).sum();
    let most = match max_size {
        0 => MOST_PICKS,
        size => u64::from(size).min(MOST_PICKS),
    };
    if weights > most {
        let message = format!("{place}: weights of {weights} together; it holds {most}");
        return refuse(Code::ResourceExhausted, message);
    }
    Ok(())
}
