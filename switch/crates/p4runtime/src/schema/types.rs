//! Types of registers and digests (P4DataTypeSpec), as far as v1model has them.

use super::read::Types;
use super::{Form, Names};
use crate::bytestring::{self, hexadecimal, shorten};
use crate::message::entity::{DataKind, Header, Members, P4Data};
use crate::message::p4info::{
    BitstringKind, BitstringType, DataType, DataTypeKind, Representation,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DataShape {
    Number(u32),
    Bool,
    /// A number of this many bits, with names for some values.
    Enum(u32),
    /// One of these names, which p4c numbers in their order.
    Name(Vec<String>),
    /// One of the program's errors, likewise.
    Error(Vec<String>),
    /// A number that clients have as a string.
    Text(Names),
    Struct(Vec<DataShape>),
    Tuple(Vec<DataShape>),
    /// A header, always valid, with the widths of its fields.
    Header(Vec<u32>),
}

/// Types that refer to themselves don't exist in P4; a p4info that pretends so ends here.
const DEPTH: u32 = 16;

impl DataShape {
    /// The shape of a type; None if it is beyond this switch.
    pub(super) fn of(data: Option<&DataType>, types: Types<'_>) -> Option<Self> {
        shape(data?, types, DEPTH)
    }

    pub fn bits(&self) -> Option<u32> {
        match self {
            Self::Number(bits) | Self::Enum(bits) => Some(*bits),
            Self::Bool => Some(1),
            _ => None,
        }
    }

    pub fn leaves(&self) -> usize {
        match self {
            Self::Number(_)
            | Self::Bool
            | Self::Enum(_)
            | Self::Name(_)
            | Self::Error(_)
            | Self::Text(_) => 1,
            Self::Struct(members) | Self::Tuple(members) => members.iter().map(Self::leaves).sum(),
            Self::Header(fields) => fields.len(),
        }
    }

    /// Whether it is a tuple of fields of these widths.
    pub fn is_tuple_of(&self, bits: impl Iterator<Item = u32>) -> bool {
        matches!(self, Self::Tuple(_)) && self.is_of(bits)
    }

    /// Whether it has fields of these widths.
    pub fn is_of(&self, mut bits: impl Iterator<Item = u32>) -> bool {
        self.takes(&mut bits) && bits.next().is_none()
    }

    fn takes(&self, bits: &mut dyn Iterator<Item = u32>) -> bool {
        match self {
            Self::Number(own) | Self::Enum(own) => bits.next() == Some(*own),
            // The program decides their width.
            Self::Bool | Self::Name(_) | Self::Error(_) | Self::Text(_) => bits.next().is_some(),
            Self::Struct(members) | Self::Tuple(members) => {
                members.iter().all(|member| member.takes(bits))
            }
            Self::Header(fields) => fields.iter().all(|own| bits.next() == Some(*own)),
        }
    }

    /// Makes a value of its numbers in order; missing ones are zero.
    pub fn value(&self, numbers: &mut impl Iterator<Item = Vec<u8>>) -> P4Data {
        let mut next = || {
            let mut number = numbers.next().unwrap_or_else(|| vec![0]);
            shorten(&mut number);
            number
        };
        let kind = match self {
            Self::Number(_) => DataKind::Bitstring(next()),
            Self::Enum(_) => DataKind::EnumValue(next()),
            Self::Name(names) => DataKind::Enum(name(names, &next())),
            Self::Error(names) => DataKind::Error(name(names, &next())),
            Self::Text(names) => DataKind::Bitstring(Form::Text(names.clone()).give(next())),
            Self::Bool => DataKind::Bool(next().iter().any(|byte| *byte != 0)),
            Self::Struct(members) => DataKind::Struct(all(members, numbers)),
            Self::Tuple(members) => DataKind::Tuple(all(members, numbers)),
            Self::Header(fields) => DataKind::Header(Header {
                is_valid: true,
                bitstrings: fields.iter().map(|_| next()).collect(),
            }),
        };
        P4Data { kind: Some(kind) }
    }
}

/// The name of a number; its digits, if it has none.
fn name(names: &[String], number: &[u8]) -> String {
    let place = bytestring::number(number).and_then(|number| usize::try_from(number).ok());
    let known = place.and_then(|place| names.get(place));
    known.cloned().unwrap_or_else(|| hexadecimal(number))
}

fn all(members: &[DataShape], numbers: &mut impl Iterator<Item = Vec<u8>>) -> Members {
    let mut values = Vec::with_capacity(members.len());
    for member in members {
        values.push(member.value(numbers));
    }
    Members { members: values }
}

fn shape(data: &DataType, all: Types<'_>, depth: u32) -> Option<DataShape> {
    let depth = depth.checked_sub(1)?;
    let below = |data: &DataType| shape(data, all, depth);
    let types = all.info;
    match data.kind.as_ref()? {
        DataTypeKind::Bitstring(bitstring) => number(bitstring).map(DataShape::Number),
        DataTypeKind::Bool(_) => Some(DataShape::Bool),
        DataTypeKind::Tuple(tuple) => {
            let members = tuple.members.iter().map(below);
            members.collect::<Option<_>>().map(DataShape::Tuple)
        }
        DataTypeKind::Struct(named) => {
            let members = types?.structs.get(&named.name)?.members.iter();
            let shapes = members.map(|member| below(member.type_spec.as_ref()?));
            shapes.collect::<Option<_>>().map(DataShape::Struct)
        }
        DataTypeKind::Header(named) => {
            let members = types?.headers.get(&named.name)?.members.iter();
            let widths = members.map(|member| number(member.type_spec.as_ref()?));
            widths.collect::<Option<_>>().map(DataShape::Header)
        }
        DataTypeKind::SerializableEnum(named) => {
            let known = types?.serializable_enums.get(&named.name)?;
            let bits = u32::try_from(known.underlying_type?.bitwidth).ok()?;
            Some(DataShape::Enum(bits))
        }
        DataTypeKind::Enum(named) => {
            let members = types?.enums.get(&named.name)?.members.iter();
            Some(DataShape::Name(
                members.map(|member| member.name.clone()).collect(),
            ))
        }
        DataTypeKind::Error(_) => Some(DataShape::Error(types?.error.as_ref()?.members.clone())),
        DataTypeKind::NewType(named) => {
            match types?.new_types.get(&named.name)?.representation.as_ref()? {
                Representation::Original(original) => below(original),
                Representation::Translated(translated) => {
                    match u32::try_from(translated.sdn_bitwidth).ok()? {
                        0 => all.names.get(&named.name).cloned().map(DataShape::Text),
                        bits => Some(DataShape::Number(bits)),
                    }
                }
            }
        }
    }
}

fn number(bitstring: &BitstringType) -> Option<u32> {
    match bitstring.kind? {
        BitstringKind::Bit(width) | BitstringKind::Int(width) => {
            u32::try_from(width.bitwidth).ok().filter(|bits| *bits > 0)
        }
        BitstringKind::Varbit(_) => None,
    }
}
