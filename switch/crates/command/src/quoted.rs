//! A user's words in messages: in quotes, with characters that a terminal can't print spelled out.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

/// In single quotes, or in double ones where it has single ones itself.
pub fn quoted(text: impl AsRef<OsStr>) -> String {
    let bytes = text.as_ref().as_bytes();
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') {
        '"'
    } else {
        '\''
    };
    let mut result = String::from(quote);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' => result.push_str("\\\\"),
                '\n' => result.push_str("\\n"),
                '\r' => result.push_str("\\r"),
                '\t' => result.push_str("\\t"),
                _ if character == quote => result.extend(['\\', quote]),
                _ if is_printable(character) => result.push(character),
                _ => push_number(&mut result, u32::from(character)),
            }
        }
        for byte in chunk.invalid() {
            push_number(&mut result, u32::from(*byte));
        }
    }
    result.push(quote);
    result
}

fn push_number(result: &mut String, number: u32) {
    // Writing to a string doesn't fail.
    let _ = match number {
        0..=0xff => write!(result, "\\x{number:02x}"),
        0x100..=0xffff => write!(result, "\\u{number:04x}"),
        _ => write!(result, "\\U{number:08x}"),
    };
}

/// Whether a terminal shows all of it as it is.
pub fn is_text(text: &OsStr) -> bool {
    text.to_str()
        .is_some_and(|text| text.chars().all(is_printable))
}

/// Neither a control character, nor a separator but the space, nor unassigned.
fn is_printable(character: char) -> bool {
    // The standard library escapes the rest; at the beginning combining ones too, hence the `a`.
    let mut buffer = [b'a', 0, 0, 0, 0];
    let length = character.encode_utf8(&mut buffer[1..]).len();
    let both = std::str::from_utf8(&buffer[..=length]).unwrap_or_default();
    !matches!(character, '\0' | '\t' | '\n' | '\r')
        && both.escape_debug().nth(2).is_none_or(|third| third != 'u')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_a_terminal_can_show_it() {
        let cases: [(&[u8], &str); 10] = [
            (b"veth0", "'veth0'"),
            (b"", "''"),
            (b"it's", "\"it's\""),
            (b"'\"", "'\\'\"'"),
            (b"a\nb\t\\", "'a\\nb\\t\\\\'"),
            (b"\x1b[2J\0", "'\\x1b[2J\\x00'"),
            ("été".as_bytes(), "'été'"),
            ("\u{2028}\u{e000}".as_bytes(), "'\\u2028\\ue000'"),
            ("\u{10ffff}".as_bytes(), "'\\U0010ffff'"),
            (b"a\xff", "'a\\xff'"),
        ];
        for (given, expected) in cases {
            assert_eq!(quoted(OsStr::from_bytes(given)), expected);
        }
    }

    #[test]
    fn what_is_text() {
        assert!(is_text(OsStr::new("eth0 été e\u{301}'\"\\")));
        for given in ["a\nb", "\x1b[2J", "\0", "\u{2028}"] {
            assert!(!is_text(OsStr::new(given)), "{given:?}");
        }
        assert!(!is_text(OsStr::from_bytes(b"\xff")));
    }
}
