//! A JSON value with its place, so that every error names it.

use serde_json::Value;

use crate::error::LoadError;

/// Deepest nesting in JSON levels, for the stack. p4c writes two to four levels per operator.
const DEEPEST: usize = 512;

pub(crate) fn parse(text: &str) -> Result<Value, LoadError> {
    let refuse = |message: String| LoadError {
        path: "/".into(),
        message,
    };
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0usize, 0usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    if deepest > DEEPEST {
        return Err(refuse(format!(
            "nested {deepest} levels deep; at most {DEEPEST} are read"
        )));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = <Value as serde::Deserialize>::deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| refuse(format!("not JSON: {error}")))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(refuse("expected an object, as p4c-bm2-ss writes it".into()))
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Json<'a> {
    pub(crate) value: &'a Value,
    pub(crate) path: String,
}

impl<'a> Json<'a> {
    pub(crate) fn root(value: &'a Value) -> Self {
        Self {
            value,
            path: String::new(),
        }
    }

    pub(crate) fn refuse<T>(&self, message: impl Into<String>) -> Result<T, LoadError> {
        let path = if self.path.is_empty() {
            "/".into()
        } else {
            self.path.clone()
        };
        Err(LoadError {
            path,
            message: message.into(),
        })
    }

    pub(crate) fn get(&self, key: &str) -> Result<Json<'a>, LoadError> {
        match self.value.get(key) {
            Some(value) => Ok(Json {
                value,
                path: format!("{}/{key}", self.path),
            }),
            None => self.refuse(format!("no {key:?} here")),
        }
    }

    /// The member `key`, if it is there and not null.
    pub(crate) fn find(&self, key: &str) -> Option<Json<'a>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Json {
            value,
            path: format!("{}/{key}", self.path),
        })
    }

    pub(crate) fn items(&self) -> Result<Vec<Json<'a>>, LoadError> {
        match self.value.as_array() {
            Some(items) => Ok(items
                .iter()
                .enumerate()
                .map(|(index, value)| Json {
                    value,
                    path: format!("{}/{index}", self.path),
                })
                .collect()),
            None => self.refuse("expected an array"),
        }
    }

    /// The items of member `key`; none if it is absent.
    pub(crate) fn list(&self, key: &str) -> Result<Vec<Json<'a>>, LoadError> {
        self.find(key)
            .map_or(Ok(Vec::new()), |member| member.items())
    }

    pub(crate) fn tuple<const N: usize>(&self) -> Result<[Json<'a>; N], LoadError> {
        let items = self.items()?;
        let found = items.len();
        match items.try_into() {
            Ok(items) => Ok(items),
            Err(_) => self.refuse(format!("expected {N} items, found {found}")),
        }
    }

    pub(crate) fn text(&self) -> Result<&'a str, LoadError> {
        self.value
            .as_str()
            .map_or_else(|| self.refuse("expected a string"), Ok)
    }

    pub(crate) fn boolean(&self) -> Result<bool, LoadError> {
        self.value
            .as_bool()
            .map_or_else(|| self.refuse("expected true or false"), Ok)
    }

    /// A boolean, or 0 or 1, as p4c writes whether a `bool` field is signed.
    pub(crate) fn flag(&self) -> Result<bool, LoadError> {
        match self.value.as_u64() {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => self.boolean(),
        }
    }

    pub(crate) fn number(&self) -> Result<u32, LoadError> {
        match self
            .value
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
        {
            Some(number) => Ok(number),
            None => self.refuse("expected a number from 0 to 4294967295"),
        }
    }

    /// An integer written in hexadecimal, `-0x1f` if negative.
    pub(crate) fn hexadecimal(&self) -> Result<Integer, LoadError> {
        let text = self.text()?;
        let (negative, digits) = text
            .strip_prefix('-')
            .map_or((false, text), |rest| (true, rest));
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return self.refuse(format!("expected a hexadecimal number, found {text:?}"));
        }
        let nibbles: Vec<u8> = digits
            .bytes()
            .map(|byte| (byte as char).to_digit(16).unwrap_or(0) as u8)
            .collect();
        let mut magnitude: Vec<u8> = Vec::with_capacity(nibbles.len() / 2 + 1);
        for pair in nibbles.rchunks(2) {
            magnitude.push(pair.iter().fold(0, |sum, nibble| sum << 4 | nibble));
        }
        magnitude.reverse();
        let leading = magnitude.iter().take_while(|&&byte| byte == 0).count();
        magnitude.drain(..leading);
        Ok(Integer {
            negative: negative && !magnitude.is_empty(),
            magnitude,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Integer {
    pub(crate) negative: bool,
    /// Big-endian, no leading zero bytes.
    pub(crate) magnitude: Vec<u8>,
}

impl Integer {
    pub(crate) fn small(value: u64) -> Self {
        let bytes = value.to_be_bytes();
        let leading = bytes.iter().take_while(|&&byte| byte == 0).count();
        Self {
            negative: false,
            magnitude: bytes[leading..].to_vec(),
        }
    }

    pub(crate) fn bits(&self) -> u32 {
        let Some(first) = self.magnitude.first() else {
            return 0;
        };
        (self.magnitude.len() as u32 - 1) * 8 + (8 - first.leading_zeros())
    }

    /// The value modulo 2^128.
    pub(crate) fn low(&self) -> u128 {
        let magnitude = self
            .magnitude
            .iter()
            .fold(0u128, |sum, byte| sum << 8 | u128::from(*byte));
        if self.negative {
            magnitude.wrapping_neg()
        } else {
            magnitude
        }
    }

    /// The value modulo 2^(64 `words`), least significant word first.
    pub(crate) fn limbs(&self, words: usize) -> Box<[u64]> {
        let mut limbs = vec![0; words];
        for (limb, chunk) in limbs.iter_mut().zip(self.magnitude.rchunks(8)) {
            *limb = chunk
                .iter()
                .fold(0, |value, byte| value << 8 | u64::from(*byte));
        }
        if self.negative {
            let mut carry = true;
            for limb in &mut limbs {
                (*limb, carry) = (!*limb).overflowing_add(carry.into());
            }
        }
        limbs.into()
    }

    /// The magnitude in at least `length` bytes, zeros before it.
    pub(crate) fn padded(&self, length: usize) -> Box<[u8]> {
        let mut bytes = vec![0; length.saturating_sub(self.magnitude.len())];
        bytes.extend_from_slice(&self.magnitude);
        bytes.into()
    }

    /// The number of bits, if all are ones.
    pub(crate) fn is_low_mask(&self) -> Option<u32> {
        let bits = self.bits();
        let (first, rest) = match self.magnitude.split_first() {
            Some(parts) => parts,
            None => return Some(0),
        };
        let ones = first.count_ones() == 8 - first.leading_zeros();
        (!self.negative && ones && rest.iter().all(|byte| *byte == 0xff)).then_some(bits)
    }

    pub(crate) fn as_u32(&self) -> Option<u32> {
        (!self.negative && self.bits() <= 32).then(|| self.low() as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn hexadecimal_numbers() {
        let read = |text: &str| Json::root(&json!(text)).hexadecimal();
        assert_eq!(
            read("0x0000").unwrap(),
            Integer {
                negative: false,
                magnitude: vec![]
            }
        );
        assert_eq!(read("-0x0002").unwrap().low() as i128, -2);
        assert_eq!(read("0x1ff").unwrap().bits(), 9);
        assert_eq!(
            read("0x").unwrap_err().message,
            "expected a hexadecimal number, found \"0x\""
        );
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
        assert!(parse(&deep).unwrap_err().message.contains("levels deep"));
        assert!(parse("[]").is_err());
        assert!(parse("{} x").unwrap_err().message.starts_with("not JSON"));
    }
}
