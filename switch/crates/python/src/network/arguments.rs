//! Arguments from Python: whatever is wrong with one becomes a `ValueError` that names it.

use std::net::Ipv4Addr;

use phb_hosts::ConfigError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// A whole number of any size. Python's own conversion to a machine word gives an `OverflowError` without the
/// argument's name; this one leaves the check to [`Integer::within`].
pub(crate) struct Integer {
    /// `None` is beyond 128 bits.
    value: Option<i128>,
    text: String,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Integer {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let number = object.cast::<PyInt>()?;
        Ok(Self {
            value: number.extract().ok(),
            text: number.str()?.to_string(),
        })
    }
}

impl From<u32> for Integer {
    fn from(value: u32) -> Self {
        Self {
            value: Some(i128::from(value)),
            text: value.to_string(),
        }
    }
}

impl Integer {
    /// The number as the unsigned type `T`, if that can hold it and `most` (inclusive) allows it.
    pub fn up_to<T: TryFrom<i128>>(&self, argument: &str, most: u64) -> PyResult<T> {
        self.value
            .filter(|value| (0..=i128::from(most)).contains(value))
            .and_then(|value| T::try_from(value).ok())
            .ok_or_else(|| {
                wrong(
                    argument,
                    &format!("{} is given, 0 to {most} is expected", self.text),
                )
            })
    }

    /// A time in ns, a rate, or a count.
    pub fn word(&self, argument: &str) -> PyResult<u64> {
        self.up_to(argument, u64::MAX)
    }

    /// A number of bytes or packets in memory.
    pub fn size(&self, argument: &str) -> PyResult<usize> {
        self.up_to(argument, u64::from(u32::MAX))
    }

    /// A number of a port, of a node or of TCP.
    pub fn port(&self, argument: &str) -> PyResult<u16> {
        self.up_to(argument, u64::from(u16::MAX))
    }
}

/// A `ValueError` that starts with the argument's name.
pub(crate) fn wrong(argument: &str, message: &str) -> PyErr {
    PyValueError::new_err(format!("{argument}: {message}"))
}

/// A parameter that a host or an adapter refuses, under the name that Python knows it by.
pub(crate) fn refused(error: &ConfigError) -> PyErr {
    let argument = match error.parameter {
        "receive_buffer" => "receive_buffer_bytes",
        "send_buffer" => "send_buffer_bytes",
        same => same,
    };
    wrong(argument, &error.message)
}

/// An IPv4 address in dotted decimal.
pub(crate) fn address(argument: &str, text: &str) -> PyResult<Ipv4Addr> {
    text.parse().map_err(|_| {
        wrong(
            argument,
            &format!("'{text}' is given, an IPv4 address is expected"),
        )
    })
}

/// An Ethernet address as six hexadecimal bytes with colons between them.
pub(crate) fn mac(argument: &str, text: &str) -> PyResult<[u8; 6]> {
    let bytes: Vec<u8> = text
        .split(':')
        .filter(|part| part.len() == 2)
        .filter_map(|part| u8::from_str_radix(part, 16).ok())
        .collect();
    let complete = text.len() == 17;
    <[u8; 6]>::try_from(bytes)
        .ok()
        .filter(|_| complete)
        .ok_or_else(|| {
            wrong(
                argument,
                &format!("'{text}' is given, an address like 02:00:00:00:00:01 is expected"),
            )
        })
}
