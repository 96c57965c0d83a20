//! Fields of header types and of their instances.

use std::collections::HashMap;

use serde_json::Value;

use super::json::Json;
use crate::error::LoadError;
use crate::program::{ExtractPlan, Fit, HeaderSpan, Layout, LayoutField, Slot};

/// The longest header accepted, in bytes: more than any IP packet.
const LONGEST_HEADER: u32 = 65_536;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) slot: Slot,
    /// For a varbit, the most it may hold.
    pub(crate) bits: u32,
    pub(crate) signed: bool,
    /// The word with the validity of its header; none for metadata, which is always valid.
    pub(crate) valid: Option<u32>,
    /// Assignments limit instead of cutting.
    pub(crate) saturating: bool,
}

impl Field {
    pub(crate) fn fit(&self) -> Fit {
        Fit::new(self.bits, self.signed)
    }

    /// The same field of another header of the same type.
    pub(crate) fn moved(mut self, from: HeaderSpan, to: HeaderSpan) -> Self {
        let moved = |word: u32| word - from.word + to.word;
        match &mut self.slot {
            Slot::Word { word } | Slot::Wide { word, .. } => *word = moved(*word),
            Slot::Variable {
                byte, length_word, ..
            } => {
                *byte = *byte - from.byte + to.byte;
                *length_word = moved(*length_word);
            }
        }
        self.valid = self.valid.map(moved);
        self
    }
}

pub(super) struct TypeField {
    pub(super) name: String,
    pub(super) slot: Slot,
    pub(super) bits: u32,
    pub(super) signed: bool,
    pub(super) saturating: bool,
}

pub(crate) struct HeaderType {
    pub(super) fields: Vec<TypeField>,
    pub(super) by_name: HashMap<String, usize>,
    /// The expression for the bits of the varbit, with its place in the artifact.
    pub(super) length: Option<(Value, String)>,
}

#[derive(Clone, Copy)]
pub(crate) struct Instance {
    pub(crate) span: HeaderSpan,
    pub(crate) metadata: bool,
}

pub(super) fn locate(instance: Instance, field: &TypeField) -> Field {
    let slot = field.slot.of(instance.span);
    let valid = (!instance.metadata).then_some(instance.span.word);
    Field {
        slot,
        bits: field.bits,
        signed: field.signed,
        valid,
        saturating: field.saturating,
    }
}

pub(super) fn load_type(item: &Json<'_>) -> Result<(HeaderType, Layout), LoadError> {
    let mut header_type = HeaderType {
        fields: Vec::new(),
        by_name: HashMap::new(),
        length: item
            .find("length_exp")
            .map(|json| (json.value.clone(), json.path)),
    };
    let mut layout = Layout {
        words: 1,
        bytes: 0,
        length: 0,
        max_length: 0,
        fields: Vec::new(),
        variable: None,
        plan: None,
    };
    let mut fixed_bits = 0u32;
    let mut variable = None;
    for field in item.get("fields")?.items()? {
        let parts = field.items()?;
        let [name, width, ..] = parts.as_slice() else {
            return field.refuse("expected a name and a width");
        };
        let signed = parts.get(2).map_or(Ok(false), Json::flag)?;
        let saturating = parts.get(3).map_or(Ok(false), Json::flag)?;
        let fixed = width.value.as_str() != Some("*");
        let bits = if fixed { width.number()? } else { 0 };
        let slot = if !fixed {
            let place = (header_type.fields.len(), field.clone());
            if variable.replace(place).is_some() {
                return field.refuse("a header has at most one field of variable length");
            }
            Slot::Variable {
                byte: layout.bytes,
                capacity: 0,
                length_word: layout.words,
            }
        } else if bits == 0 || bits > LONGEST_HEADER * 8 {
            return width.refuse(format!("a field of {bits} bits"));
        } else if bits <= 64 {
            Slot::Word { word: layout.words }
        } else {
            Slot::Wide {
                word: layout.words,
                words: bits.div_ceil(64),
            }
        };
        layout.words += bits.div_ceil(64).max(1);
        fixed_bits += bits;
        if fixed_bits > LONGEST_HEADER * 8 {
            return item.refuse("the header is too long");
        }
        let name = name.text()?.to_owned();
        header_type
            .by_name
            .insert(name.clone(), header_type.fields.len());
        header_type.fields.push(TypeField {
            name,
            slot,
            bits,
            signed: signed && fixed,
            saturating: saturating && fixed,
        });
    }
    layout.length = fixed_bits.div_ceil(8);
    layout.max_length = layout.length;
    if let Some((index, at)) = variable {
        let longest = item.get("max_length")?.number()?;
        give_rest(&mut header_type.fields[index], longest, &mut layout, &at)?;
    }
    layout.fields = header_type
        .fields
        .iter()
        .map(|field| LayoutField {
            slot: field.slot,
            bits: if matches!(field.slot, Slot::Variable { .. }) {
                0
            } else {
                field.bits
            },
            fit: Fit::new((field.bits.max(1) - 1) % 64 + 1, field.signed),
        })
        .collect();
    if layout.variable.is_none() {
        layout.plan = ExtractPlan::new(&layout.fields);
    }
    Ok((header_type, layout))
}

/// Gives a varbit, the last field, the bytes that the others leave of the longest header.
fn give_rest(
    field: &mut TypeField,
    longest: u32,
    layout: &mut Layout,
    at: &Json<'_>,
) -> Result<(), LoadError> {
    if longest < layout.length || longest > LONGEST_HEADER {
        return at.refuse(format!(
            "max_length {longest} does not fit a header of at least {}",
            layout.length
        ));
    }
    let Slot::Variable { length_word, .. } = field.slot else {
        return at.refuse("expected a field of variable length");
    };
    let capacity = longest - layout.length;
    field.slot = Slot::Variable {
        byte: layout.bytes,
        capacity,
        length_word,
    };
    field.bits = capacity * 8;
    layout.max_length = longest;
    layout.bytes += capacity;
    layout.variable = Some(length_word);
    Ok(())
}
