//! ValueSetEntry: the members of a parser value set, all at once.

use phb_node::Update as Change;
use phb_pipeline::Match;

use super::Step;
use crate::keys::fields;
use crate::message::entity::ValueSetEntry;
use crate::schema::{Naming, Schema, find};
use crate::status::{Code, Refusal, Result};

pub(super) fn entry(mut entry: ValueSetEntry, schema: &Schema) -> Result<Step> {
    let set = find(&schema.value_sets, entry.value_set_id, "value set")?;
    let name = set.name.clone();
    let mut members = Vec::with_capacity(entry.members.len());
    for member in &mut entry.members {
        let mut given = fields(&mut member.matches, &set.fields, Naming::New, || {
            format!("value set {name}")
        })?;
        // The switch takes one match per field; omitted ones match anything.
        let all = set.fields.iter().map(|field| {
            let place = given.iter().position(|(name, _)| *name == field.native);
            place.map_or(Match::Optional(None), |place| given.swap_remove(place).1)
        });
        members.push(all.collect());
    }
    let known = entry.members.iter().enumerate();
    for (place, member) in known {
        if entry.members[..place].contains(member) {
            return Err(Refusal::new(
                Code::AlreadyExists,
                format!("value set {name}: member {place} is given twice"),
            ));
        }
    }
    let id = set.id;
    let change = Change::ValueSet { name, members };
    Ok(Step::new(vec![change], move |store| {
        store.rest_mut().value_sets.insert(id, entry.members);
    }))
}
