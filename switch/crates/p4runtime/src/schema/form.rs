//! The form in which clients write a type's values; the program's may differ.

use std::fmt::Display;

use super::names::{Names, Naming};
use crate::bytestring::{self, canonical, hexadecimal, of_number};
use crate::status::{Result, invalid};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The program's number.
    Number,
    /// The program's number, where the p4info has another width (`@p4runtime_translation`) or none (`error`).
    Translated,
    /// A string (`@p4runtime_translation` with `string`).
    Text(Names),
}

impl Form {
    /// Makes a client's value canonical; gives the number it stands for.
    pub fn receive(
        &self,
        value: &mut Vec<u8>,
        bits: u32,
        naming: Naming,
        what: impl Display,
    ) -> Result<Vec<u8>> {
        let Self::Text(names) = self else {
            canonical(value, bits, what)?;
            return Ok(value.clone());
        };
        match std::str::from_utf8(value) {
            Ok(text) => Ok(of_number(names.number(text, bits, naming, what)?)),
            Err(error) => invalid(format!(
                "{what}: expected a string; byte {} is not UTF-8",
                error.valid_up_to()
            )),
        }
    }

    /// Converts the program's number, in its shortest form, to the clients' form.
    pub fn give(&self, number: Vec<u8>) -> Vec<u8> {
        self.shown(number, Names::text)
    }

    /// As [`Form::give`], for a number that stays the program's: no string will stand for it.
    pub fn keep(&self, number: Vec<u8>) -> Vec<u8> {
        self.shown(number, Names::keep)
    }

    fn shown(&self, number: Vec<u8>, text: impl Fn(&Names, u128) -> String) -> Vec<u8> {
        let Self::Text(names) = self else {
            return number;
        };
        match bytestring::number(&number) {
            Some(number) => text(names, number).into_bytes(),
            None => hexadecimal(&number).into_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_utf_8() {
        let form = Form::Text(Names::free());
        let mut value = "größe".as_bytes().to_vec();
        let number = form.receive(&mut value, 9, Naming::New, "x").unwrap();
        assert_eq!(number, [1, 255]);
        assert_eq!(form.give(number), value);
        let refusal = form.receive(&mut vec![b'a', 0xff], 9, Naming::New, "vrf");
        assert_eq!(
            refusal.unwrap_err().message,
            "vrf: expected a string; byte 1 is not UTF-8"
        );
    }

    #[test]
    fn numbers_stay_numbers() {
        let mut value = vec![0, 0, 7];
        let received = Form::Translated.receive(&mut value, 8, Naming::Known, "x");
        assert_eq!(received, Ok(vec![7]));
        assert_eq!(value, [7]);
        assert_eq!(Form::Number.give(vec![7]), [7]);
    }
}
