//! A leaf's value.

use std::fmt;
use std::sync::Arc;

use crate::refusal::quoted;

/// A leaf's value. It is cheap to copy, since each sample copies many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Of all numbers but int32.
    Unsigned(u64),
    /// Of int32.
    Signed(i32),
    Text(Arc<str>),
    Boolean(bool),
    /// Of leaf-lists.
    Numbers(Arc<[u64]>),
}

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_unsigned(&self) -> Option<u64> {
        match self {
            Self::Unsigned(number) => Some(*number),
            _ => None,
        }
    }

    /// The elements of a leaf-list.
    pub(crate) fn numbers(&self) -> &[u64] {
        match self {
            Self::Numbers(numbers) => numbers,
            _ => &[],
        }
    }

    pub(crate) fn as_signed(&self) -> Option<i32> {
        match self {
            Self::Signed(number) => Some(*number),
            _ => None,
        }
    }
}

/// As messages quote it.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(number) => write!(formatter, "{number}"),
            Self::Signed(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(&quoted(text)),
            Self::Boolean(value) => write!(formatter, "{value}"),
            Self::Numbers(numbers) => write!(formatter, "{numbers:?}"),
        }
    }
}
