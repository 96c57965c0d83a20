//! The form in which clients write a type's values; the program's may differ.

use std::fmt::Display;

use crate::bytestring::{self, canonical, hexadecimal, of_number};
use crate::status::{Result, invalid};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The program's number.
    Number,
    /// The program's number, where the p4info has another width (`@p4runtime_translation`) or none (`error`).
    Translated,
    /// Decimal digits (`@p4runtime_translation` with `string`): the switch knows no other names.
    Text,
}

impl Form {
    /// Makes a client's value canonical; gives the number it stands for.
    pub fn receive(self, value: &mut Vec<u8>, bits: u32, what: impl Display) -> Result<Vec<u8>> {
        if self != Self::Text {
            canonical(value, bits, what)?;
            return Ok(value.clone());
        }
        let digits = std::str::from_utf8(value).ok().filter(|digits| {
            !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
        });
        let Some(number) = digits.and_then(|digits| digits.parse().ok()) else {
            let found = String::from_utf8_lossy(value);
            return invalid(format!(
                "{what}: found {found:?}, expected a number in decimal digits"
            ));
        };
        let mut number = of_number(number);
        canonical(&mut number, bits, what)?;
        *value = self.give(number.clone());
        Ok(number)
    }

    /// Converts the program's number, in its shortest form, to the clients' form.
    pub fn give(self, number: Vec<u8>) -> Vec<u8> {
        if self != Self::Text {
            return number;
        }
        match bytestring::number(&number) {
            Some(number) => number.to_string().into_bytes(),
            None => hexadecimal(&number).into_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_decimal_numbers() {
        let receive = |text: &str| {
            let mut value = text.as_bytes().to_vec();
            let number = Form::Text.receive(&mut value, 9, "port").ok()?;
            assert_eq!(Form::Text.give(number.clone()), value);
            Some((String::from_utf8(value).unwrap(), number))
        };
        assert_eq!(receive("0"), Some(("0".to_owned(), vec![0])));
        assert_eq!(receive("0511"), Some(("511".to_owned(), vec![1, 255])));
        for wrong in ["", "512", "-1", "+1", "0x1", "eth0", "1 ", "\u{661}"] {
            assert_eq!(receive(wrong), None, "{wrong:?}");
        }
        let refusal = Form::Text
            .receive(&mut b"eth0".to_vec(), 9, "port")
            .unwrap_err();
        assert_eq!(
            refusal.message,
            "port: found \"eth0\", expected a number in decimal digits"
        );
    }

    #[test]
    fn numbers_stay_numbers() {
        let mut value = vec![0, 0, 7];
        assert_eq!(Form::Translated.receive(&mut value, 8, "x"), Ok(vec![7]));
        assert_eq!(value, [7]);
        assert_eq!(Form::Number.give(vec![7]), [7]);
    }
}
