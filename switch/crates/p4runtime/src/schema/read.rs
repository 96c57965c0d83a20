//! Reads a p4info into a schema.

use std::sync::Arc;

use std::collections::BTreeMap;

use phb_pipeline::MatchKind;
use prost::Message;

use super::names::is_of_ports;
use super::{
    Action, Array, DataShape, Digest, Field, Form, KeyField, Meter, MeterKind, Names, PortNames,
    Profile, Register, Schema, Scope, Table, ValueSet,
};
use crate::message::entity::{TableAction, TableActionKind};
use crate::message::p4info::{self, NamedType, P4Info, Preamble, Representation, TypeInfo};
use crate::status::{Refusal, Result, invalid, unimplemented};

impl Schema {
    /// `ports` are the names of interfaces, which clients may have for the numbers of their ports.
    pub fn read(serialized: &[u8], ports: &PortNames) -> Result<Self> {
        let info = P4Info::decode(serialized).map_err(|error| {
            Refusal::new(
                crate::Code::InvalidArgument,
                format!("the p4info can not be read: {error}"),
            )
        })?;
        let names = strings(info.type_info.as_ref(), ports);
        let types = Types {
            info: info.type_info.as_ref(),
            names: &names,
        };
        let mut schema = Self::default();
        for action in &info.actions {
            let (id, name) = identity(action.preamble.as_ref());
            let params = action.params.iter().map(|each| {
                types.field(
                    &name,
                    each.id,
                    &each.name,
                    each.bitwidth,
                    each.type_name.as_ref(),
                )
            });
            let params = params.collect::<Result<_>>()?;
            schema.actions.insert(id, Action { id, name, params });
        }
        for profile in &info.action_profiles {
            let (id, name) = identity(profile.preamble.as_ref());
            schema.profiles.insert(id, profile_of(id, name, profile));
        }
        let counters = ids(&info.direct_counters);
        let meters = ids(&info.direct_meters);
        for table in &info.tables {
            let table = table_of(table, &schema, types, &counters, &meters)?;
            schema.tables.insert(table.id, Arc::new(table));
        }
        schema.read_arrays(&info, types);
        schema.read_rest(&info, types)?;
        schema.ports = names.values().find(|names| names.are_ports()).cloned();
        schema.names = names;
        Ok(schema)
    }

    fn read_arrays(&mut self, info: &P4Info, types: Types<'_>) {
        for counter in &info.counters {
            let (id, name) = identity(counter.preamble.as_ref());
            let size = counter.size.max(0) as u64;
            self.counters.insert(id, Array { name, size });
        }
        for meter in &info.meters {
            let (id, name) = identity(meter.preamble.as_ref());
            let size = meter.size.max(0) as u64;
            let kind = meter_kind(meter.spec.as_ref());
            self.meters.insert(id, Meter { name, size, kind });
        }
        for register in &info.registers {
            let (id, name) = identity(register.preamble.as_ref());
            let size = register.size.max(0) as u64;
            let shape = DataShape::of(register.type_spec.as_ref(), types)
                .filter(|shape| shape.bits().is_some());
            self.registers.insert(id, Register { name, size, shape });
        }
    }

    fn read_rest(&mut self, info: &P4Info, types: Types<'_>) -> Result<()> {
        for set in &info.value_sets {
            let (id, name) = identity(set.preamble.as_ref());
            let owner = format!("value set {name}");
            let fields = set.matches.iter().map(|field| types.key(&owner, field));
            let fields = fields.collect::<Result<_>>()?;
            self.value_sets.insert(id, ValueSet { id, name, fields });
        }
        for digest in &info.digests {
            let (id, name) = identity(digest.preamble.as_ref());
            let shape = DataShape::of(digest.type_spec.as_ref(), types);
            let Some(shape) = shape else {
                return unimplemented(format!(
                    "p4info: digest {name}: header unions, stacks and varbits are not supported"
                ));
            };
            let native = name.clone();
            let digest = Digest {
                id,
                name,
                native,
                shape,
            };
            self.digests.insert(id, digest);
        }
        for header in &info.controller_packet_metadata {
            let (_, name) = identity(header.preamble.as_ref());
            let fields = header.metadata.iter().map(|each| {
                types.field(
                    &name,
                    each.id,
                    &each.name,
                    each.bitwidth,
                    each.type_name.as_ref(),
                )
            });
            let fields: Vec<Field> = fields.collect::<Result<_>>()?;
            match name.as_str() {
                "packet_in" => self.packet_in = fields,
                "packet_out" => self.packet_out = fields,
                _ => {}
            }
        }
        Ok(())
    }
}

fn identity(preamble: Option<&Preamble>) -> (u32, String) {
    preamble.map_or_else(Default::default, |known| (known.id, known.name.clone()))
}

/// Ids of direct counters or meters, with the kind of meter.
fn ids(resources: &[p4info::DirectResource]) -> BTreeMap<u32, MeterKind> {
    let ids = resources.iter().map(|each| {
        (
            identity(each.preamble.as_ref()).0,
            meter_kind(each.spec.as_ref()),
        )
    });
    ids.collect()
}

fn meter_kind(spec: Option<&p4info::Spec>) -> MeterKind {
    match spec.map_or(0, |spec| spec.kind) {
        1 => MeterKind::SingleRate,
        2 => MeterKind::TwoColors,
        _ => MeterKind::TwoRate,
    }
}

fn profile_of(id: u32, name: String, profile: &p4info::ActionProfile) -> Profile {
    Profile {
        id,
        name,
        tables: profile.table_ids.clone(),
        with_selector: profile.with_selector,
        max_group_size: profile.max_group_size,
        max_member_weight: profile
            .sum_of_members
            .map(|semantics| semantics.max_member_weight),
        weights_disallowed: profile.weights_disallowed,
        absent: false,
    }
}

fn table_of(
    table: &p4info::Table,
    schema: &Schema,
    types: Types<'_>,
    counters: &BTreeMap<u32, MeterKind>,
    meters: &BTreeMap<u32, MeterKind>,
) -> Result<Table> {
    let (id, name) = identity(table.preamble.as_ref());
    let what = format!("table {name}");
    let fields = table
        .match_fields
        .iter()
        .map(|field| types.key(&what, field));
    let fields: Vec<KeyField> = fields.collect::<Result<_>>()?;
    let mut actions = Vec::new();
    for reference in &table.action_refs {
        if !schema.actions.contains_key(&reference.id) {
            return invalid(format!(
                "p4info: table {name} refers to action {}, which is not there",
                reference.id
            ));
        }
        let scope = match reference.scope {
            1 => Scope::EntryOnly,
            2 => Scope::DefaultOnly,
            3 => Scope::GroupOnly,
            _ => Scope::Anywhere,
        };
        actions.push((reference.id, scope));
    }
    let profile = Some(table.implementation_id).filter(|profile| *profile != 0);
    if let Some(profile) = profile
        && !schema.profiles.contains_key(&profile)
    {
        return invalid(format!(
            "p4info: table {name} refers to action profile {profile}, which is not there"
        ));
    }
    let needs_priority = fields.iter().any(|field| {
        matches!(
            field.kind,
            MatchKind::Ternary | MatchKind::Range | MatchKind::Optional
        )
    });
    let direct = &table.direct_resource_ids;
    Ok(Table {
        id,
        fields,
        actions,
        is_const: table.is_const_table,
        const_default: table.const_default_action_id != 0,
        needs_priority,
        direct_counter: direct.iter().any(|id| counters.contains_key(id)),
        direct_meter: direct.iter().find_map(|id| meters.get(id).copied()),
        profile,
        idle_timeout: table.idle_timeout_behavior != 0,
        initial_default: table
            .initial_default_action
            .as_ref()
            .map(|call| TableAction {
                kind: Some(TableActionKind::Action(call.clone())),
            }),
        absent: false,
        left_out: Vec::new(),
        name,
    })
}

/// The strings of each type that clients have as one.
fn strings(types: Option<&TypeInfo>, ports: &PortNames) -> BTreeMap<String, Names> {
    let all = types.into_iter().flat_map(|types| &types.new_types);
    let strings = all.filter_map(|(name, new)| match &new.representation {
        Some(Representation::Translated(type_)) if type_.sdn_bitwidth == 0 => {
            let names = match is_of_ports(name, &type_.uri) {
                true => Names::ports(Arc::clone(ports)),
                false => Names::free(),
            };
            Some((name.clone(), names))
        }
        _ => None,
    });
    strings.collect()
}

/// A p4info's types.
#[derive(Clone, Copy)]
pub(super) struct Types<'a> {
    pub info: Option<&'a TypeInfo>,
    pub names: &'a BTreeMap<String, Names>,
}

impl Types<'_> {
    /// A type's form and its width in the p4info; 0 if the program decides it.
    fn form(
        &self,
        owner: &str,
        name: &str,
        bits: i32,
        named: Option<&NamedType>,
    ) -> Result<(Form, u32)> {
        let known = || {
            self.info?
                .new_types
                .get(&named?.name)?
                .representation
                .as_ref()
        };
        let names = || self.names.get(&named?.name).cloned();
        if let (Some(names), 0) = (names(), bits) {
            return Ok((Form::Text(names), 0));
        }
        match (known(), u32::try_from(bits)) {
            (Some(Representation::Translated(_)), Ok(bits)) => Ok((Form::Translated, bits)),
            // p4c gives an `error` neither width nor type.
            (_, Ok(0)) => Ok((Form::Translated, 0)),
            (_, Ok(bits)) => Ok((Form::Number, bits)),
            (_, Err(_)) => invalid(format!("p4info: {owner}, {name}: a width of {bits} bits")),
        }
    }

    fn field(
        &self,
        owner: &str,
        id: u32,
        name: &str,
        bits: i32,
        named: Option<&NamedType>,
    ) -> Result<Field> {
        let (form, bits) = self.form(owner, name, bits, named)?;
        Ok(Field {
            id,
            name: name.to_owned(),
            bits,
            form,
            absent: false,
        })
    }

    fn key(&self, owner: &str, field: &p4info::MatchField) -> Result<KeyField> {
        // p4c gives no name to the only field of a value set.
        let name = match field.name.as_str() {
            "" => &format!("field {}", field.id),
            name => name,
        };
        let kind = match field.match_type {
            2 => MatchKind::Exact,
            3 => MatchKind::Lpm,
            4 => MatchKind::Ternary,
            5 => MatchKind::Range,
            6 => MatchKind::Optional,
            _ => {
                return unimplemented(format!(
                    "p4info: {owner}, key {name}: its match kind is not supported"
                ));
            }
        };
        let (form, bits) = self.form(owner, name, field.bitwidth, field.type_name.as_ref())?;
        if matches!(form, Form::Text(_)) && !matches!(kind, MatchKind::Exact | MatchKind::Optional)
        {
            return unimplemented(format!(
                "p4info: {owner}, key {name}: a string can only be matched whole"
            ));
        }
        Ok(KeyField {
            id: field.id,
            name: name.to_owned(),
            native: native_name(name),
            bits,
            kind,
            form,
        })
    }
}

/// The artifact's name of a key of the p4info, where some versions of p4c write `h.isValid()`.
fn native_name(key: &str) -> String {
    match key.strip_suffix("isValid()") {
        Some(header) => format!("{header}$valid$"),
        None => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::native_name;

    #[test]
    fn validity_keys_have_the_artifacts_name() {
        assert_eq!(native_name("hdr.ipv4.isValid()"), "hdr.ipv4.$valid$");
        assert_eq!(native_name("hdr.ipv4.$valid$"), "hdr.ipv4.$valid$");
    }
}
