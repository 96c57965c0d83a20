//! Counters of the models that are the program's: a controller says which cells of which counters they are.
//!
//! `/controller/counters/counter[path=PATH]/config/cells` is a list such as `PhbEgress.sent[7],PhbEgress.sent[9..11]`; the
//! leaf at PATH is the sum of those cells, of bytes if its name says octets, else of packets.

use std::ops::RangeInclusive;

use phb_pipeline::Pipeline;

use crate::paths::{Element, Path, is_pattern, parsed};
use crate::refusal::{Result, quoted, wrong};
use crate::schema;
use crate::settings::{Ports, Settings, at_or_below};
use crate::value::Value;

/// Cells of all of them together: they are read while no packet passes.
const MOST_CELLS: usize = 65_536;

/// One counter of the models.
pub(crate) struct Counted {
    pub path: Path,
    of_bytes: bool,
    cells: Vec<(String, RangeInclusive<usize>)>,
}

impl Counted {
    /// None where the program, or its counter, has no such cells.
    pub(crate) fn read(&self, pipeline: Option<&Pipeline>) -> Option<u64> {
        let pipeline = pipeline?;
        let mut sum = 0_u64;
        for (name, cells) in &self.cells {
            let all = pipeline.counter_read_all(name).ok()?;
            for (packets, bytes) in all.get(cells.clone())? {
                let counted = if self.of_bytes { bytes } else { packets };
                sum = sum.wrapping_add(*counted);
            }
        }
        Some(sum)
    }
}

/// Those that the settings name; `InvalidArgument` has the path.
pub(crate) fn all(settings: &Settings, ports: &Ports) -> Result<Vec<Counted>> {
    let top = ["controller", "counters"].map(Element::new);
    let mut result = Vec::new();
    let mut cells = 0;
    for (place, value) in at_or_below(settings, &top) {
        let Some(text) = value.as_text().filter(|_| place.len() == 5) else {
            continue;
        };
        if place[4].name != "cells" {
            continue;
        }
        let key = place[2].keys.first();
        let path = checked(place, key.map_or("", |(_, path)| path), ports)?;
        let counted = Counted {
            of_bytes: path
                .last()
                .is_some_and(|last| last.name.ends_with("octets")),
            path,
            cells: read_cells(text).ok_or_else(|| {
                let found = quoted(text);
                wrong(
                    place,
                    format!("expected cells such as 'sent[7],sent[9..11]', found {found}"),
                )
            })?,
        };
        cells += counted
            .cells
            .iter()
            .map(|(_, cells)| cells.clone().count())
            .sum::<usize>();
        if cells > MOST_CELLS {
            let message = format!("there would be more than {MOST_CELLS} cells");
            return Err(wrong(place, message));
        }
        result.push(counted);
    }
    Ok(result)
}

/// The path of a counter of openconfig-qos, of an interface that is there.
fn checked(place: &Path, text: &str, ports: &Ports) -> Result<Path> {
    let path = parsed(text);
    let fits = path.as_ref().is_some_and(|path| {
        let leaf = schema::leaf(path);
        path.first().is_some_and(|first| first.name == "qos")
            && leaf.is_some_and(|leaf| leaf.is_counter)
            && schema::has_all_keys(path)
            && !is_pattern(path)
    });
    let Some(path) = path.filter(|_| fits) else {
        let message = format!(
            "expected the path of a counter of openconfig-qos, found {}",
            quoted(text)
        );
        return Err(wrong(place, message));
    };
    let keys = path.iter().flat_map(|element| &element.keys);
    for (key, name) in keys {
        if key == "interface-id" && !ports.contains_key(name) {
            return Err(wrong(
                place,
                format!("there is no interface {}", quoted(name)),
            ));
        }
    }
    Ok(path)
}

fn read_cells(text: &str) -> Option<Vec<(String, RangeInclusive<usize>)>> {
    let each = text.split(',').map(|part| {
        let (name, rest) = part.trim().split_once('[')?;
        let index = rest.strip_suffix(']')?;
        let (first, last) = index.split_once("..").unwrap_or((index, index));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        let cells = usize::try_from(first).ok()?..=usize::try_from(last).ok()?;
        (!name.is_empty() && !cells.is_empty()).then(|| (name.to_owned(), cells))
    });
    each.collect()
}

/// Keys of the entries that the counters stand in, for those that no setting names.
pub(crate) fn keys(counted: &Counted) -> impl Iterator<Item = (Path, Value)> {
    let path = &counted.path;
    let entries = path.iter().enumerate().filter(|(depth, _)| *depth > 2);
    entries.flat_map(|(depth, element)| {
        let entry: Path = path.iter().take(depth + 1).cloned().collect();
        element.keys.iter().flat_map(move |(key, text)| {
            let value = match text.parse() {
                Ok(number) if key == "sequence" => Value::Unsigned(number),
                _ => Value::text(text),
            };
            let leaves = [entry.below(key), entry.below("state").below(key)];
            leaves.map(|leaf| (leaf, value.clone()))
        })
    })
}
