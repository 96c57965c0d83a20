//! Whether everything the p4info names is in the program, with the same shape.

use std::sync::Arc;

use phb_pipeline::{ActionInfo, DigestList, KeyInfo, MatchKind, Pipeline, TableInfo};

use super::{
    ACTION_PROFILE, DIRECT_COUNTER, DIRECT_METER, Digest, Field, Form, IDLE_TIMEOUT, KeyField,
    Schema, Table,
};
use crate::status::{Result, invalid};

impl Schema {
    /// Checks the schema against the program. Translated or unknown widths become the program's.
    pub fn bind(&mut self, program: &Pipeline) -> Result<()> {
        self.psa = program.psa_ports();
        let known = program.tables();
        for table in self.tables.values_mut().map(Arc::make_mut) {
            let Some(native) = known.iter().find(|native| native.name == table.name) else {
                if may_be_absent(table) {
                    table.absent = true;
                    continue;
                }
                return disagree(&format!("table {} is not in the artifact", table.name));
            };
            bind_keys(table, native)?;
            bind_properties(table, native, program.is_portable())?;
            if table.left_out.contains(&ACTION_PROFILE)
                && let Some(profile) = table.profile.and_then(|id| self.profiles.get_mut(&id))
            {
                profile.absent = true;
            }
            for (id, _) in &table.actions {
                let Some(action) = self.actions.get_mut(id) else {
                    continue; // reading the p4info has made sure that there is one
                };
                let native = native
                    .actions
                    .iter()
                    .find(|native| native.name == action.name);
                let same = native.is_some_and(|native| {
                    let known = |name: &str| action.params.iter().any(|param| param.name == name);
                    native.params.iter().all(|(name, _)| known(name))
                        && action
                            .params
                            .iter_mut()
                            .all(|param| bind_parameter(param, native))
                });
                if !same {
                    return disagree(&format!(
                        "action {} of table {} is not in the artifact, or has other parameters there",
                        action.name, table.name
                    ));
                }
            }
        }
        let sets = program.value_sets();
        for set in self.value_sets.values_mut() {
            let native = sets.iter().find(|native| native.name == set.name);
            let same = native.is_some_and(|native| {
                let mut widths = native.bits.iter();
                // The artifact has no widths for a set that no parser state uses.
                native.bits.is_empty()
                    || native.bits.len() == set.fields.len()
                        && set.fields.iter_mut().all(|field| {
                            widths
                                .next()
                                .is_some_and(|bits| fits(&mut field.bits, *bits, &field.form))
                        })
            });
            if !same {
                return disagree(&format!(
                    "value set {} is not in the artifact, or has other fields there",
                    set.name
                ));
            }
        }
        self.bind_digests(program)?;
        for (fields, name) in [
            (&mut self.packet_in, "packet_in"),
            (&mut self.packet_out, "packet_out"),
        ] {
            bind_header(fields, name, program)?;
        }
        self.bind_arrays(program)
    }

    /// In v1model digests are matched by the name of their struct. p4c names those of a tuple differently in
    /// p4info and artifact, so they are matched by their fields, equal ones by order; so are all of
    /// PSA, which p4c names by their instance in the p4info, and not at all in the artifact.
    fn bind_digests(&mut self, program: &Pipeline) -> Result<()> {
        let (lists, psa) = (program.digest_lists(), program.is_psa());
        let named = |name: &str| self.digests.values().any(|digest| digest.name == name);
        let mut nameless: Vec<&DigestList> =
            lists.iter().filter(|list| !named(&list.name)).collect();
        nameless.sort_by_key(|list| list.id);
        let mut digests: Vec<&mut Digest> = self.digests.values_mut().collect();
        // Not by id: ids derive from names, and the names count the digests.
        digests.sort_by(|left, right| {
            (left.name.len(), &left.name).cmp(&(right.name.len(), &right.name))
        });
        for digest in digests {
            let shape = &digest.shape;
            let list = match lists.iter().find(|list| list.name == digest.name) {
                Some(list) => Some(list).filter(|list| list.fields.len() == shape.leaves()),
                None => nameless
                    .iter()
                    .position(|list| {
                        let bits = list.fields.iter().map(|(_, bits)| *bits);
                        if psa {
                            shape.is_of(bits)
                        } else {
                            shape.is_tuple_of(bits)
                        }
                    })
                    .map(|place| nameless.remove(place)),
            };
            let Some(list) = list else {
                if psa {
                    // One that the program never sends.
                    continue;
                }
                return disagree(&format!(
                    "digest {} is not in the artifact, or has other fields there",
                    digest.name
                ));
            };
            digest.native.clone_from(&list.name);
        }
        Ok(())
    }

    fn bind_arrays(&self, program: &Pipeline) -> Result<()> {
        let counters = self.counters.values();
        let counters = counters.map(|array| ("counter", array.name.as_str(), array.size));
        let native = program.counters();
        check_sizes(
            counters,
            native.iter().map(|(name, size)| (name.as_str(), *size)),
        )?;
        let meters = self.meters.values();
        let meters = meters.map(|array| ("meter", array.name.as_str(), array.size));
        let native = program.meters();
        check_sizes(
            meters,
            native.iter().map(|(name, size)| (name.as_str(), *size)),
        )?;
        let registers = self.registers.values();
        let registers = registers.map(|array| ("register", array.name.as_str(), array.size));
        let native = program.registers();
        check_sizes(
            registers,
            native.iter().map(|(name, size, _)| (name.as_str(), *size)),
        )
    }
}

fn disagree<T>(words: &str) -> Result<T> {
    invalid(format!("p4info and artifact do not agree: {words}"))
}

fn bind_keys(table: &mut Table, native: &TableInfo) -> Result<()> {
    let mut same = table.fields.len() == native.keys.len();
    for field in &mut table.fields {
        let key = native.keys.iter().find(|key| key.name == field.native);
        same &= key.is_some_and(|key| {
            same_kind(field.kind, key.kind)
                && (fits(&mut field.bits, key.bits, &field.form) || is_part(field, key))
        });
    }
    if same {
        return Ok(());
    }
    let words = |field: &KeyField| format!("{} {}({})", field.name, field.kind.name(), field.bits);
    let ours: Vec<String> = table.fields.iter().map(words).collect();
    let theirs = native.keys.iter();
    let theirs: Vec<String> = theirs
        .map(|key| format!("{} {}({})", key.name, key.kind.name(), key.bits))
        .collect();
    disagree(&format!(
        "table {} has the keys {} in the p4info, {} in the artifact",
        table.name,
        listed(&ours),
        listed(&theirs)
    ))
}

/// Checks the p4info's properties of a table other than keys and actions. p4c-bm2-psa and
/// p4c-bm2-pna leave out of the artifact what a table has only by these architectures' names
/// (`psa_direct_counter` and so on).
fn bind_properties(table: &mut Table, native: &TableInfo, portable: bool) -> Result<()> {
    let promises = [
        (
            DIRECT_COUNTER,
            table.direct_counter,
            native.direct_counter.is_some(),
        ),
        (
            DIRECT_METER,
            table.direct_meter.is_some(),
            native.direct_meter.is_some(),
        ),
        (
            ACTION_PROFILE,
            table.profile.is_some(),
            native.action_profile.is_some(),
        ),
        (IDLE_TIMEOUT, table.idle_timeout, native.idle_timeouts),
    ];
    for (what, ours, theirs) in promises {
        if ours && !theirs {
            if !portable {
                return disagree(&format!(
                    "the {what} of table {} is in the p4info, but not in the artifact",
                    table.name
                ));
            }
            table.left_out.push(what);
        }
    }
    table.direct_counter &= native.direct_counter.is_some();
    table.direct_meter = table.direct_meter.filter(|_| native.direct_meter.is_some());
    table.idle_timeout &= native.idle_timeouts;
    Ok(())
}

fn listed(words: &[String]) -> String {
    if words.is_empty() {
        "(none)".to_owned()
    } else {
        words.join(", ")
    }
}

/// Whether a key is the low bits of a field, which p4c makes a mask of the field.
fn is_part(field: &KeyField, key: &KeyInfo) -> bool {
    field.bits == key.compared && matches!(field.kind, MatchKind::Exact | MatchKind::Ternary)
}

/// Whether a parameter is one of the program's action, or one that p4c may have removed, as it does in P4_14.
fn bind_parameter(param: &mut Field, native: &ActionInfo) -> bool {
    match native.params.iter().find(|(name, _)| *name == param.name) {
        Some((_, bits)) => fits(&mut param.bits, *bits, &param.form),
        None => {
            param.absent = true;
            param.form == Form::Number
        }
    }
}

/// Whether a width is the program's; a type in another form takes it.
fn fits(bits: &mut u32, native: u32, form: &Form) -> bool {
    match form {
        Form::Number => *bits == native,
        Form::Translated | Form::Text(_) => {
            *bits = native;
            true
        }
    }
}

/// Whether p4c may have removed a table as useless: it has no key, and no state to read.
fn may_be_absent(table: &Table) -> bool {
    table.fields.is_empty()
        && table.profile.is_none()
        && !table.direct_counter
        && table.direct_meter.is_none()
}

/// Gives a controller header's fields the program's widths. The artifact doesn't say which header
/// it is, so it is found by the names of its fields.
fn bind_header(fields: &mut [Field], name: &str, program: &Pipeline) -> Result<()> {
    if fields.iter().all(|field| field.form == Form::Number) {
        return Ok(());
    }
    let fit = |fields: &mut [Field], native: &[(String, u32)]| {
        fields.len() == native.len()
            && fields.iter_mut().zip(native).all(|(field, (name, bits))| {
                field.name == *name && *bits > 0 && fits(&mut field.bits, *bits, &field.form)
            })
    };
    let mut found: Vec<Vec<Field>> = Vec::new();
    for header in program.header_types() {
        let mut bound = fields.to_vec();
        if fit(&mut bound, &header.fields) && !found.contains(&bound) {
            found.push(bound);
        }
    }
    match found.as_slice() {
        [bound] => {
            fields.clone_from_slice(bound);
            Ok(())
        }
        [] => disagree(&format!(
            "no header of the artifact has the fields of {name}"
        )),
        _ => disagree(&format!(
            "headers of several shapes in the artifact have the fields of {name}"
        )),
    }
}

fn same_kind(ours: MatchKind, native: MatchKind) -> bool {
    ours == native || (ours == MatchKind::Optional && native == MatchKind::Ternary)
}

fn check_sizes<'a>(
    ours: impl Iterator<Item = (&'static str, &'a str, u64)>,
    native: impl Iterator<Item = (&'a str, usize)>,
) -> Result<()> {
    let native: Vec<(&str, usize)> = native.collect();
    for (what, name, size) in ours {
        let found = native.iter().find(|(known, _)| *known == name);
        if found.is_none_or(|(_, known)| *known as u64 != size) {
            return disagree(&format!(
                "{what} {name}[{size}] is not in the artifact, or has another size there"
            ));
        }
    }
    Ok(())
}
