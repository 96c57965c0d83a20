//! Thrift messages as values, read and written by Thrift's own binary protocol, within [`limits`].

use std::io::Read;

use thrift::protocol::{
    TBinaryInputProtocol, TBinaryOutputProtocol, TFieldIdentifier, TInputProtocol, TListIdentifier,
    TMapIdentifier, TMessageIdentifier, TMessageType, TOutputProtocol, TStructIdentifier, TType,
};
use thrift::{Error, ProtocolError, ProtocolErrorKind, TConfiguration};

use crate::limits;

/// A value of a message. Strings are bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The result of a method that gives none.
    Void,
    /// bool
    Bool(bool),
    /// i16
    I16(i16),
    /// i32, and enums
    I32(i32),
    /// i64
    I64(i64),
    /// double
    Double(f64),
    /// string and binary
    Bytes(Vec<u8>),
    /// list and set
    List(Vec<Value>),
    /// struct, and the arguments of a call: values by field number
    Struct(Vec<(i16, Value)>),
    /// map
    Map(Vec<(Value, Value)>),
    /// A list of structs or numbers, in Thrift's own bytes: for lists that may be long.
    Encoded(TType, usize, Vec<u8>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }
}

/// The fields of a struct; missing ones, and those of another type, are zero or empty.
#[derive(Clone, Copy)]
pub struct Fields<'a>(&'a [(i16, Value)]);

impl<'a> Fields<'a> {
    pub fn of(value: &'a Value) -> Self {
        match value {
            Value::Struct(fields) => Self(fields),
            _ => Self(&[]),
        }
    }

    pub fn get(self, id: i16) -> Option<&'a Value> {
        let mut fields = self.0.iter();
        fields
            .find(|(known, _)| *known == id)
            .map(|(_, value)| value)
    }

    pub fn number(self, id: i16) -> Option<i64> {
        match self.get(id)? {
            Value::Bool(value) => Some((*value).into()),
            Value::I16(value) => Some((*value).into()),
            Value::I32(value) => Some((*value).into()),
            Value::I64(value) => Some(*value),
            _ => None,
        }
    }

    /// Enums and handles, too.
    pub fn int(self, id: i16) -> i32 {
        self.number(id).map_or(0, |value| value as i32)
    }

    pub fn long(self, id: i16) -> i64 {
        self.number(id).unwrap_or(0)
    }

    pub fn flag(self, id: i16) -> bool {
        self.number(id).is_some_and(|value| value != 0)
    }

    pub fn double(self, id: i16) -> f64 {
        match self.get(id) {
            Some(Value::Double(value)) => *value,
            _ => 0.0,
        }
    }

    pub fn bytes(self, id: i16) -> &'a [u8] {
        match self.get(id) {
            Some(Value::Bytes(value)) => value,
            _ => &[],
        }
    }

    /// A name; what is not UTF-8 is the name of nothing.
    pub fn text(self, id: i16) -> &'a str {
        std::str::from_utf8(self.bytes(id)).unwrap_or("\u{fffd}")
    }

    pub fn list(self, id: i16) -> &'a [Value] {
        match self.get(id) {
            Some(Value::List(values)) => values,
            _ => &[],
        }
    }

    pub fn fields(self, id: i16) -> Self {
        self.get(id).map_or(Self(&[]), Self::of)
    }
}

/// A call as it came.
pub struct Message {
    pub name: String,
    pub sequence: i32,
    pub arguments: Value,
}

/// Reads one call.
///
/// # Errors
/// Of the stream, and for everything that is no call within the limits.
pub fn read_call(stream: &mut impl Read) -> thrift::Result<Message> {
    let configuration = TConfiguration::builder()
        .max_message_size(Some(limits::MESSAGE_BYTES))
        .max_frame_size(Some(limits::MESSAGE_BYTES))
        .max_string_size(Some(limits::MESSAGE_BYTES))
        .max_container_size(Some(limits::VALUES))
        .max_recursion_depth(Some(limits::DEPTH))
        .build()?;
    let mut protocol = TBinaryInputProtocol::with_config(stream, true, configuration);
    let header = protocol.read_message_begin()?;
    if header.message_type != TMessageType::Call {
        let words = format!("expected a call, got {:?}", header.message_type);
        return Err(refused(ProtocolErrorKind::InvalidData, words));
    }
    let mut reader = Reader {
        protocol,
        values: limits::VALUES,
    };
    let arguments = reader.value(TType::Struct, limits::DEPTH)?;
    Ok(Message {
        name: header.name,
        sequence: header.sequence_number,
        arguments,
    })
}

fn refused(kind: ProtocolErrorKind, words: String) -> Error {
    Error::Protocol(ProtocolError::new(kind, words))
}

struct Reader<P> {
    protocol: P,
    /// Values that may still come.
    values: usize,
}

impl<P: TInputProtocol> Reader<P> {
    fn value(&mut self, kind: TType, depth: usize) -> thrift::Result<Value> {
        self.values = self.values.checked_sub(1).ok_or_else(|| {
            let words = format!("more than {} values", limits::VALUES);
            refused(ProtocolErrorKind::SizeLimit, words)
        })?;
        let deeper = || {
            depth.checked_sub(1).ok_or_else(|| {
                let words = format!("more than {} levels", limits::DEPTH);
                refused(ProtocolErrorKind::DepthLimit, words)
            })
        };
        let protocol = &mut self.protocol;
        Ok(match kind {
            TType::Bool => Value::Bool(protocol.read_bool()?),
            TType::I08 => Value::I16(protocol.read_i8()?.into()),
            TType::I16 => Value::I16(protocol.read_i16()?),
            TType::I32 => Value::I32(protocol.read_i32()?),
            TType::I64 => Value::I64(protocol.read_i64()?),
            TType::Double => Value::Double(protocol.read_double()?),
            TType::String => Value::Bytes(protocol.read_bytes()?),
            TType::List | TType::Set => {
                let depth = deeper()?;
                let list = protocol.read_list_begin()?;
                let elements = (0..list.size).map(|_| self.value(list.element_type, depth));
                Value::List(elements.collect::<thrift::Result<_>>()?)
            }
            TType::Map => {
                let depth = deeper()?;
                let map = protocol.read_map_begin()?;
                let (Some(key), Some(value)) = (map.key_type, map.value_type) else {
                    return Ok(Value::Map(Vec::new()));
                };
                let pair = |_| Ok((self.value(key, depth)?, self.value(value, depth)?));
                Value::Map((0..map.size).map(pair).collect::<thrift::Result<_>>()?)
            }
            TType::Struct => {
                let depth = deeper()?;
                let mut fields = Vec::new();
                loop {
                    let field = self.protocol.read_field_begin()?;
                    if field.field_type == TType::Stop {
                        break Value::Struct(fields);
                    }
                    let value = self.value(field.field_type, depth)?;
                    fields.push((field.id.unwrap_or(0), value));
                }
            }
            other => {
                let words = format!("a value of type {other:?}");
                return Err(refused(ProtocolErrorKind::InvalidData, words));
            }
        })
    }
}

/// An answer in Thrift's bytes.
pub fn answer(name: &str, sequence: i32, kind: TMessageType, body: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut protocol = TBinaryOutputProtocol::new(&mut bytes, true);
    // Writing to memory doesn't fail.
    let _ = protocol
        .write_message_begin(&TMessageIdentifier::new(name, kind, sequence))
        .and_then(|()| write(body, &mut protocol));
    bytes
}

/// A value in Thrift's bytes, at the end of others.
pub fn encode(value: &Value, bytes: &mut Vec<u8>) {
    let _ = write(value, &mut TBinaryOutputProtocol::new(bytes, true));
}

fn write(value: &Value, protocol: &mut TBinaryOutputProtocol<&mut Vec<u8>>) -> thrift::Result<()> {
    match value {
        Value::Void => Ok(()),
        Value::Bool(value) => protocol.write_bool(*value),
        Value::I16(value) => protocol.write_i16(*value),
        Value::I32(value) => protocol.write_i32(*value),
        Value::I64(value) => protocol.write_i64(*value),
        Value::Double(value) => protocol.write_double(*value),
        Value::Bytes(value) => protocol.write_bytes(value),
        Value::List(values) => {
            // An empty list has to name a type; clients look at none of its elements.
            let kind = values.first().map_or(TType::Struct, kind_of);
            protocol.write_list_begin(&TListIdentifier::new(kind, size(values.len())))?;
            values.iter().try_for_each(|value| write(value, protocol))
        }
        Value::Encoded(kind, count, bytes) => {
            protocol.write_list_begin(&TListIdentifier::new(*kind, size(*count)))?;
            protocol.transport.extend_from_slice(bytes);
            Ok(())
        }
        Value::Map(pairs) => {
            let kinds = pairs
                .first()
                .map(|(key, value)| (kind_of(key), kind_of(value)));
            let (key, value) = kinds.unwrap_or((TType::String, TType::String));
            protocol.write_map_begin(&TMapIdentifier::new(key, value, size(pairs.len())))?;
            pairs.iter().try_for_each(|(key, value)| {
                write(key, protocol)?;
                write(value, protocol)
            })
        }
        Value::Struct(fields) => {
            protocol.write_struct_begin(&TStructIdentifier::new(""))?;
            for (id, value) in fields {
                protocol.write_field_begin(&TFieldIdentifier::new("", kind_of(value), *id))?;
                write(value, protocol)?;
            }
            protocol.write_field_stop()
        }
    }
}

fn size(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn kind_of(value: &Value) -> TType {
    match value {
        Value::Void => TType::Void,
        Value::Bool(_) => TType::Bool,
        Value::I16(_) => TType::I16,
        Value::I32(_) => TType::I32,
        Value::I64(_) => TType::I64,
        Value::Double(_) => TType::Double,
        Value::Bytes(_) => TType::String,
        Value::List(_) | Value::Encoded(..) => TType::List,
        Value::Struct(_) => TType::Struct,
        Value::Map(_) => TType::Map,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::Bool),
            any::<i16>().prop_map(Value::I16),
            any::<i32>().prop_map(Value::I32),
            any::<i64>().prop_map(Value::I64),
            prop::collection::vec(any::<u8>(), 0..9).prop_map(Value::Bytes),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                (inner.clone(), 1..4_usize)
                    .prop_map(|(value, count)| Value::List(vec![value; count])),
                prop::collection::vec((any::<i16>(), inner), 0..4).prop_map(Value::Struct),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_message_is_read_as_it_was_written(fields in prop::collection::vec((any::<i16>(), value()), 0..5)) {
            let body = Value::Struct(fields);
            let bytes = answer("a:b", -3, TMessageType::Call, &body);
            let message = read_call(&mut &bytes[..]).expect("it is one");
            prop_assert_eq!((message.name.as_str(), message.sequence), ("a:b", -3));
            prop_assert_eq!(&message.arguments, &body);
            // Nothing that is cut short is a message.
            for length in 0..bytes.len() {
                prop_assert!(read_call(&mut &bytes[..length]).is_err());
            }
        }

        /// Whatever comes is read, or refused; changes of a message reach further than noise.
        #[test]
        fn nonsense_is_refused(
            body in value(),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        ) {
            let mut bytes = answer("a:b", 1, TMessageType::Call, &Value::Struct(vec![(1, body)]));
            for (place, byte) in changes {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            let _ = read_call(&mut &bytes[..]);
        }
    }
}
