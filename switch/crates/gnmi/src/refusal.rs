//! Refusals and their words.

use std::fmt::Write;

use phb_p4runtime::status::{Code, Refusal};

use crate::paths::{Element, text};

pub(crate) type Result<T> = std::result::Result<T, Refusal>;

/// The longest message: it travels in a header, and may quote what a client sent.
const LONGEST: usize = 2048;

pub(crate) fn refusal(code: Code, mut message: String) -> Refusal {
    if message.len() > LONGEST {
        message.truncate(message.floor_char_boundary(LONGEST - 3));
        message.push_str("...");
    }
    Refusal { code, message }
}

pub(crate) fn invalid(message: impl Into<String>) -> Refusal {
    refusal(Code::InvalidArgument, message.into())
}

pub(crate) fn wrong(path: &[Element], message: impl AsRef<str>) -> Refusal {
    invalid(format!("{}: {}", text(path), message.as_ref()))
}

/// Text in quotes, with unprintable characters escaped.
pub(crate) fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut result = String::from(quote);
    for character in text.chars() {
        match character {
            '\\' => result.push_str("\\\\"),
            '\n' => result.push_str("\\n"),
            '\r' => result.push_str("\\r"),
            '\t' => result.push_str("\\t"),
            _ if character == quote => {
                result.push('\\');
                result.push(quote);
            }
            _ if character.is_control() => {
                // Writing to a string does not fail.
                let _ = write!(result, "\\x{:02x}", u32::from(character));
            }
            _ => result.push(character),
        }
    }
    result.push(quote);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_show_what_is_inside() {
        assert_eq!(quoted("x"), "'x'");
        assert_eq!(quoted("it's"), "\"it's\"");
        assert_eq!(quoted("it's \"x\""), "'it\\'s \"x\"'");
        assert_eq!(quoted("a\n\u{1}\\"), "'a\\n\\x01\\\\'");
    }

    #[test]
    fn long_messages_are_cut() {
        let refused = invalid("\u{e9}".repeat(5000));
        assert!(refused.message.len() <= LONGEST);
        assert!(refused.message.ends_with("..."));
    }
}
