//! Parsers of options' values, with the messages about wrong ones.

use std::ffi::{OsStr, OsString};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, PossibleValue, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use crate::quoted::quoted;

/// Any bytes, as a path.
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Any bytes, as text.
pub fn text() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().map(|value: OsString| value.to_string_lossy().into_owned())
}

pub fn number<T>(range: RangeInclusive<i128>) -> Number<T> {
    Number {
        range,
        kind: PhantomData,
    }
}

/// One of a few words, each with its meaning. `expected` names them in messages.
pub fn word<T>(words: &'static [(&'static str, T)], expected: &'static str) -> Word<T> {
    Word { words, expected }
}

#[derive(Clone)]
pub struct Number<T> {
    range: RangeInclusive<i128>,
    kind: PhantomData<T>,
}

impl<T: TryFrom<i128> + Clone + Send + Sync + 'static> TypedValueParser for Number<T> {
    type Value = T;

    fn parse_ref(&self, _: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let wrong = |what: &str| {
            let option = long(arg);
            refused(format!(
                "Invalid value for '{option}': Input should be {what}"
            ))
        };
        let Some(value) = whole(&value.to_string_lossy()) else {
            return Err(wrong(
                "a valid integer, unable to parse string as an integer",
            ));
        };
        let (lowest, highest) = (self.range.start(), self.range.end());
        if value < *lowest {
            return Err(wrong(&format!("greater than or equal to {lowest}")));
        }
        match T::try_from(value) {
            Ok(number) if value <= *highest => Ok(number),
            _ => Err(wrong(&format!("less than or equal to {highest}"))),
        }
    }
}

#[derive(Clone)]
pub struct Word<T: 'static> {
    words: &'static [(&'static str, T)],
    expected: &'static str,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Word<T> {
    type Value = T;

    fn parse_ref(&self, _: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let known = self.words.iter().find(|(word, _)| value == *word);
        known.map(|(_, meaning)| meaning.clone()).ok_or_else(|| {
            let (option, value, expected) = (long(arg), quoted(value), self.expected);
            refused(format!("{option} {value}: expected {expected}"))
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words = self.words.iter().map(|(word, _)| PossibleValue::new(*word));
        Some(Box::new(words))
    }
}

/// The message of an error of these parsers.
pub fn message(error: &Error) -> String {
    match error.get(ContextKind::Custom) {
        Some(ContextValue::String(message)) => message.clone(),
        _ => error.to_string(),
    }
}

fn refused(message: String) -> Error {
    let mut error = Error::new(ErrorKind::ValueValidation);
    error.insert(ContextKind::Custom, ContextValue::String(message));
    error
}

fn long(arg: Option<&Arg>) -> String {
    format!("--{}", arg.and_then(Arg::get_long).unwrap_or_default())
}

/// Reads a whole number; one beyond `i128` becomes the lowest or highest.
fn whole(text: &str) -> Option<i128> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let beyond = if text.starts_with('-') {
        i128::MIN
    } else {
        i128::MAX
    };
    Some(text.parse().unwrap_or(beyond))
}
