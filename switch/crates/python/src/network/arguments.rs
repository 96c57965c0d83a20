//! Arguments from Python; a wrong one is a `ValueError` with its name.
//!
//! Parameters are the fields of structs; this file gives serde Python's values.

use std::fmt::{self, Display};

use phb_hosts::ConfigError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyMapping, PySequence, PyString};
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, Expected, IntoDeserializer, MapAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;

/// A `ValueError` that begins with the argument's name.
pub(crate) fn wrong(argument: &str, message: &str) -> PyErr {
    PyValueError::new_err(format!("{argument}: {message}"))
}

pub(crate) fn refused(error: &ConfigError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Reads one argument; errors name it.
pub(crate) fn read<T: DeserializeOwned>(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<T> {
    T::deserialize(Value(value.clone())).map_err(|error| error.of(argument).into())
}

pub(crate) fn read_or_default<T: DeserializeOwned + Default>(
    argument: &str,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<T> {
    value.map_or_else(|| Ok(T::default()), |value| read(argument, value))
}

/// Keyword arguments that describe a node or traffic.
pub(crate) struct Parameters<'py>(Vec<(String, Bound<'py, PyAny>)>);

impl<'py> Parameters<'py> {
    pub fn new(given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let items = given.map(|given| given.items().extract()).transpose()?;
        Ok(Self(items.unwrap_or_default()))
    }

    /// Takes out those that a struct has fields for; the others stay.
    pub fn take<T: DeserializeOwned>(&mut self) -> PyResult<T> {
        T::deserialize(Taking(self)).map_err(Into::into)
    }

    /// Reads all as the variant `kind` of an enum.
    pub fn read<T: DeserializeOwned>(self, kind: &str) -> PyResult<T> {
        let variant = std::iter::once((kind, self));
        let map = MapDeserializer::<_, Refusal>::new(variant);
        T::deserialize(MapAccessDeserializer::new(map)).map_err(|error| error.of("kind").into())
    }
}

/// An argument that can't be read: its name, once that is known, and what is wrong.
#[derive(Debug)]
struct Refusal {
    argument: Option<String>,
    message: String,
}

impl Refusal {
    /// Names the argument; the name of an inner parameter stays.
    fn of(mut self, argument: &str) -> Self {
        self.argument.get_or_insert_with(|| argument.to_owned());
        self
    }

    fn found(found: &str, expected: &dyn Display) -> Self {
        Self::custom(format_args!("{found} is given, {expected} is expected"))
    }
}

impl Error for Refusal {
    fn custom<T: Display>(message: T) -> Self {
        Self {
            argument: None,
            message: message.to_string(),
        }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_value(found, expected)
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Bool(true) => "True".to_owned(),
            Unexpected::Bool(false) => "False".to_owned(),
            Unexpected::Unsigned(number) => number.to_string(),
            Unexpected::Signed(number) => number.to_string(),
            Unexpected::Str(text) => format!("'{text}'"),
            Unexpected::Unit => "None".to_owned(),
            other => other.to_string(),
        };
        let expected = match expected.to_string().as_str() {
            "u8" => format!("0 to {}", u8::MAX),
            "u16" => format!("0 to {}", u16::MAX),
            "u32" => format!("0 to {}", u32::MAX),
            "u64" | "usize" => format!("0 to {}", u64::MAX),
            other => other.to_owned(),
        };
        Self::found(&found, &expected)
    }

    fn unknown_variant(found: &str, expected: &'static [&'static str]) -> Self {
        Self::found(&format!("'{found}'"), &expected.join(", "))
    }

    fn unknown_field(found: &str, expected: &'static [&'static str]) -> Self {
        let message = format_args!("there is no such parameter, only {}", expected.join(", "));
        Self::custom(message).of(found)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom("nothing is given, a value is expected").of(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::custom("given twice").of(field)
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let argument = self.argument.as_deref().unwrap_or("parameters");
        write!(f, "{argument}: {}", self.message)
    }
}

impl std::error::Error for Refusal {}

impl From<Refusal> for PyErr {
    fn from(refusal: Refusal) -> Self {
        PyValueError::new_err(refusal.to_string())
    }
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self::custom(error)
    }
}

/// A value of Python's as serde reads it.
struct Value<'py>(Bound<'py, PyAny>);

impl IntoDeserializer<'_, Refusal> for Value<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Value<'_> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        let object = &self.0;
        if object.is_none() {
            visitor.visit_unit()
        } else if let Ok(value) = object.cast::<PyBool>() {
            visitor.visit_bool(value.is_true())
        } else if let Ok(number) = object.cast::<PyInt>() {
            if let Ok(number) = number.extract() {
                visitor.visit_u64(number)
            } else if let Ok(number) = number.extract() {
                visitor.visit_i64(number)
            } else {
                let text = number.str()?.to_string();
                Err(Refusal::invalid_value(Unexpected::Other(&text), &visitor))
            }
        } else if let Ok(text) = object.cast::<PyString>() {
            let text = text.to_string();
            // Parsers of the standard library ("invalid IP address syntax") don't say what they read.
            let name = |error: Refusal| Refusal {
                message: match error.message.strip_prefix("invalid ") {
                    Some(kind) => format!("'{text}' is given, {kind} is expected"),
                    None => error.message,
                },
                ..error
            };
            visitor.visit_str(&text).map_err(name)
        } else if let Ok(mapping) = object.cast::<PyMapping>() {
            let items = mapping.items()?.extract()?;
            visitor.visit_map(Entries::new(items))
        } else if let Ok(sequence) = object.cast::<PySequence>() {
            let items: Vec<Bound<'_, PyAny>> = sequence.try_iter()?.collect::<PyResult<_>>()?;
            visitor.visit_seq(SeqDeserializer::new(items.into_iter().map(Value)))
        } else {
            let text = object.repr()?.to_string();
            Err(Refusal::invalid_type(Unexpected::Other(&text), &visitor))
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        if self.0.is_none() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let variant: String = self.0.extract()?;
        visitor.visit_enum(variant.into_deserializer())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

impl<'py> IntoDeserializer<'_, Refusal> for Parameters<'py> {
    type Deserializer = MapAccessDeserializer<Entries<'py>>;

    fn into_deserializer(self) -> Self::Deserializer {
        MapAccessDeserializer::new(Entries::new(self.0))
    }
}

/// Entries of a mapping; errors begin with their names.
struct Entries<'py> {
    items: std::vec::IntoIter<(String, Bound<'py, PyAny>)>,
    current: Option<(String, Bound<'py, PyAny>)>,
}

impl<'py> Entries<'py> {
    fn new(items: Vec<(String, Bound<'py, PyAny>)>) -> Self {
        Self {
            items: items.into_iter(),
            current: None,
        }
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refusal> {
        self.current = self.items.next();
        let name = self.current.as_ref().map(|(name, _)| name.as_str());
        name.map(|name| seed.deserialize(name.into_deserializer()))
            .transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Refusal> {
        let (name, value) = self
            .current
            .take()
            .ok_or_else(|| Refusal::custom("a value without a name"))?;
        seed.deserialize(Value(value))
            .map_err(|error| error.of(&name))
    }
}

/// Gives a struct the parameters that its fields name ([`Parameters::take`]).
struct Taking<'a, 'py>(&'a mut Parameters<'py>);

impl<'de> Deserializer<'de> for Taking<'_, '_> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Refusal> {
        Err(Refusal::custom("a struct is expected"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        let asked = |(name, _): &mut (String, _)| fields.contains(&name.as_str());
        let taken = self.0.0.extract_if(.., asked).collect();
        visitor.visit_map(Entries::new(taken))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
