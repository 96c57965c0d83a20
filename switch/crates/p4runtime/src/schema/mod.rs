//! A p4info's objects by id, checked against the artifact it came with.

mod bind;
mod form;
mod names;
#[cfg(test)]
mod psa_tests;
mod read;
#[cfg(test)]
mod removed_tests;
#[cfg(test)]
mod tests;
mod types;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use phb_pipeline::{MatchKind, PsaPorts};

use crate::message::entity::TableAction;
use crate::status::{Refusal, Result, invalid, unimplemented};
pub(crate) use form::Form;
pub(crate) use names::{Names, Naming, PortNames};
pub(crate) use types::DataShape;

/// A key of a table or value set. The artifact may have another name for it (`native`) and another
/// kind: p4c writes an optional key as ternary.
#[derive(Clone, Debug)]
pub(crate) struct KeyField {
    pub id: u32,
    pub name: String,
    pub native: String,
    pub bits: u32,
    pub kind: MatchKind,
    pub form: Form,
}

/// A parameter of an action, or a field of a packet-in or packet-out header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub id: u32,
    pub name: String,
    pub bits: u32,
    pub form: Form,
    /// p4c removed the parameter, which nothing uses; only clients know it.
    pub absent: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub id: u32,
    pub name: String,
    pub params: Vec<Field>,
}

/// Where an action may stand (ActionRef.Scope).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Anywhere,
    EntryOnly,
    DefaultOnly,
    GroupOnly,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub id: u32,
    pub name: String,
    pub fields: Vec<KeyField>,
    pub actions: Vec<(u32, Scope)>,
    pub is_const: bool,
    pub const_default: bool,
    /// Whether two entries of the table can match one packet other than by prefix length.
    pub needs_priority: bool,
    pub direct_counter: bool,
    pub direct_meter: Option<MeterKind>,
    pub profile: Option<u32>,
    pub idle_timeout: bool,
    /// The program's default action, as far as the p4info says it.
    pub initial_default: Option<TableAction>,
    /// p4c removed the table, which did nothing; only clients know it.
    pub absent: bool,
    /// What the p4info says that the table has, and p4c left out of the artifact.
    pub left_out: Vec<&'static str>,
}

impl Table {
    /// Refuses what the table doesn't have, a "direct counter" for example.
    pub fn lacks<T>(&self, what: &str) -> Result<T> {
        let name = &self.name;
        if self.left_out.contains(&what) {
            return unimplemented(format!(
                "table {name}: its {what} is in the p4info, but not in the artifact"
            ));
        }
        invalid(format!("table {name} has no {what}"))
    }
}

/// MeterSpec.Type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MeterKind {
    /// Two rates, three colours (RFC 2698).
    TwoRate,
    /// One rate, three colours (RFC 2697).
    SingleRate,
    /// One rate, two colours.
    TwoColors,
}

/// What a table may have, in the words of refusals.
pub(crate) const DIRECT_COUNTER: &str = "direct counter";
pub(crate) const DIRECT_METER: &str = "direct meter";
pub(crate) const ACTION_PROFILE: &str = "action profile";
pub(crate) const IDLE_TIMEOUT: &str = "idle timeout";

/// An indexed counter.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub name: String,
    pub size: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Meter {
    pub name: String,
    pub size: u64,
    pub kind: MeterKind,
}

#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub name: String,
    pub size: u64,
    /// None: its cells are not plain numbers.
    pub shape: Option<DataShape>,
}

#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub id: u32,
    pub name: String,
    pub tables: Vec<u32>,
    pub with_selector: bool,
    pub max_group_size: i32,
    /// A group's size is the number of its members, whose weights have this limit (0: none); else the sum of weights.
    pub max_member_weight: Option<i32>,
    pub weights_disallowed: bool,
    /// p4c left it out of the artifact; only clients know it.
    pub absent: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct ValueSet {
    pub id: u32,
    pub name: String,
    pub fields: Vec<KeyField>,
}

#[derive(Clone, Debug)]
pub(crate) struct Digest {
    pub id: u32,
    pub name: String,
    /// The name of its list of fields in the artifact.
    pub native: String,
    pub shape: DataShape,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Schema {
    /// Shared with reads in progress.
    pub tables: BTreeMap<u32, Arc<Table>>,
    pub actions: BTreeMap<u32, Action>,
    pub counters: BTreeMap<u32, Array>,
    pub meters: BTreeMap<u32, Meter>,
    pub registers: BTreeMap<u32, Register>,
    pub profiles: BTreeMap<u32, Profile>,
    pub value_sets: BTreeMap<u32, ValueSet>,
    pub digests: BTreeMap<u32, Digest>,
    pub packet_in: Vec<Field>,
    pub packet_out: Vec<Field>,
    /// How clients write the ports of replicas and watched ports.
    pub ports: Option<Names>,
    /// The ports of a program for PSA.
    pub psa: Option<PsaPorts>,
    /// The types that are strings to clients, by name.
    pub names: BTreeMap<String, Names>,
}

/// v1model's ports have 9 bits, those of PSA 32.
const PORT_BITS: u32 = 9;
const PSA_PORT_BITS: u32 = 32;

impl Schema {
    pub fn table(&self, id: u32) -> Result<&Arc<Table>> {
        find(&self.tables, id, "table")
    }

    /// The form in which clients have ports outside of match fields and parameters.
    fn form_of_ports(&self) -> Form {
        self.ports.clone().map_or(Form::Number, Form::Text)
    }

    /// A port for clients, as [`Schema::port`] takes it.
    pub fn port_given(&self, number: Vec<u8>) -> Vec<u8> {
        self.form_of_ports().give(number)
    }

    /// The number of a port outside of match fields and parameters, in the form of the p4info's type of ports.
    pub fn port(&self, given: &mut Vec<u8>, bits: u32, what: impl Display) -> Result<Vec<u8>> {
        self.form_of_ports().receive(given, bits, Naming::New, what)
    }

    /// Width of the ports of replicas.
    pub fn port_bits(&self) -> u32 {
        match self.psa {
            Some(_) => PSA_PORT_BITS,
            None => PORT_BITS,
        }
    }

    /// The port of the switch that a replica names; none if no port can have the number.
    pub fn switch_port(&self, port: u32) -> Option<u16> {
        match self.psa {
            Some(ports) => ports.of_switch(port),
            None => u16::try_from(port)
                .ok()
                .filter(|port| *port < 1 << PORT_BITS),
        }
    }

    pub fn profile(&self, id: u32) -> Result<&Profile> {
        find(&self.profiles, id, "action profile")
    }

    /// The action profile to write to.
    pub fn profile_in_use(&self, id: u32) -> Result<&Profile> {
        let profile = self.profile(id)?;
        if profile.absent {
            return unimplemented(format!(
                "action profile {} is in the p4info, but not in the artifact",
                profile.name
            ));
        }
        Ok(profile)
    }

    /// The table's action with this id, and its scope.
    pub fn action_of(&self, table: &Table, id: u32) -> Result<(&Action, Scope)> {
        let action = find(&self.actions, id, "action")?;
        match table.actions.iter().find(|(known, _)| *known == id) {
            Some((_, scope)) => Ok((action, *scope)),
            None => invalid(format!(
                "table {} has no action {}",
                table.name, action.name
            )),
        }
    }
}

impl Schema {
    pub fn table_named(&self, name: &str) -> Option<&Table> {
        let mut tables = self.tables.values();
        tables.find(|table| table.name == name).map(Arc::as_ref)
    }
}

pub(crate) fn find<'a, T>(all: &'a BTreeMap<u32, T>, id: u32, what: &str) -> Result<&'a T> {
    all.get(&id).ok_or_else(|| {
        Refusal::new(
            crate::Code::InvalidArgument,
            format!("the p4info has no {what} with id {id}"),
        )
    })
}
