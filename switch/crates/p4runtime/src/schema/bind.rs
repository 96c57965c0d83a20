//! Whether everything the p4info names is in the program, with the same shape.

use phb_pipeline::{MatchKind, Pipeline, TableInfo};

use super::{KeyField, Schema, Table};
use crate::status::{Result, invalid};

impl Schema {
    /// Checks the schema against the program. Fields of translated types take the program's width.
    pub fn bind(&mut self, program: &Pipeline) -> Result<()> {
        let known = program.tables();
        for table in self.tables.values_mut() {
            let Some(native) = known.iter().find(|native| native.name == table.name) else {
                return disagree(&format!("table {} is not in the artifact", table.name));
            };
            bind_keys(table, native)?;
            bind_properties(table, native)?;
            for (id, _) in &table.actions {
                let Some(action) = self.actions.get_mut(id) else {
                    continue; // reading the p4info has made sure that there is one
                };
                let native = native
                    .actions
                    .iter()
                    .find(|native| native.name == action.name);
                let same = native.is_some_and(|native| {
                    native.params.len() == action.params.len()
                        && action.params.iter_mut().all(|param| {
                            let found = native.params.iter().find(|(name, _)| *name == param.name);
                            found.is_some_and(|(_, bits)| {
                                fits(&mut param.bits, *bits, param.translated)
                            })
                        })
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
                // The program says no widths of a set that no parser state uses.
                native.bits.is_empty()
                    || native.bits.len() == set.fields.len()
                        && set.fields.iter_mut().all(|field| {
                            widths
                                .next()
                                .is_some_and(|bits| fits(&mut field.bits, *bits, field.translated))
                        })
            });
            if !same {
                return disagree(&format!(
                    "value set {} is not in the artifact, or has other fields there",
                    set.name
                ));
            }
        }
        for digest in self.digests.values() {
            let lists = program.digest_lists();
            let list = lists.iter().find(|list| list.name == digest.name);
            if list.is_none_or(|list| list.fields.len() != digest.shape.leaves()) {
                return disagree(&format!(
                    "digest {} is not in the artifact, or has other fields there",
                    digest.name
                ));
            }
        }
        self.bind_arrays(program)
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
            fits(&mut field.bits, key.bits, field.translated) && same_kind(field.kind, key.kind)
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

/// What the p4info promises for a table beside keys and actions.
fn bind_properties(table: &Table, native: &TableInfo) -> Result<()> {
    let promises = [
        (
            "a direct counter",
            table.direct_counter,
            native.direct_counter.is_some(),
        ),
        (
            "a direct meter",
            table.direct_meter.is_some(),
            native.direct_meter.is_some(),
        ),
        (
            "an action profile",
            table.profile.is_some(),
            native.action_profile.is_some(),
        ),
        ("idle timeouts", table.idle_timeout, native.idle_timeouts),
    ];
    for (what, ours, theirs) in promises {
        if ours && !theirs {
            return disagree(&format!(
                "table {} has {what} in the p4info, none in the artifact",
                table.name
            ));
        }
    }
    Ok(())
}

fn listed(words: &[String]) -> String {
    if words.is_empty() {
        "(none)".to_owned()
    } else {
        words.join(", ")
    }
}

/// Whether a width is the program's. A translated type may be wider for clients; it takes the program's width.
fn fits(bits: &mut u32, native: u32, translated: bool) -> bool {
    if translated && *bits > native {
        *bits = native;
    }
    *bits == native
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
