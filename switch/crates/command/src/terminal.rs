//! Text for terminals that don't have every character.

use std::borrow::Cow;
use std::fmt::Write;

/// Escapes what isn't ASCII, if the locale is named and its encoding is not UTF-8.
pub fn shown(text: &str) -> Cow<'_, str> {
    let named = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|value| !value.is_empty());
    match named {
        Some(locale) if !is_utf8(&locale) => escaped(text),
        _ => Cow::Borrowed(text),
    }
}

fn is_utf8(locale: &str) -> bool {
    let encoding = locale
        .split('@')
        .next()
        .and_then(|name| name.split_once('.'));
    encoding.is_some_and(|(_, name)| {
        let name = name.replace('-', "");
        name.eq_ignore_ascii_case("utf8")
    })
}

fn escaped(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut result = String::new();
    for character in text.chars() {
        let code = u32::from(character);
        // Writing to a string can't fail.
        let _ = match code {
            0..=0x7F => result.write_char(character),
            0x80..=0xFF => write!(result, "\\x{code:02x}"),
            0x100..=0xFFFF => write!(result, "\\u{code:04x}"),
            _ => write!(result, "\\U{code:08x}"),
        };
    }
    Cow::Owned(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_apart() {
        for locale in ["en_GB.UTF-8", "C.utf8", "de_AT.UTF-8@euro"] {
            assert!(is_utf8(locale), "{locale}");
        }
        for locale in ["C", "POSIX", "en_GB.ISO-8859-1", "de_AT@euro"] {
            assert!(!is_utf8(locale), "{locale}");
        }
    }

    #[test]
    fn what_is_not_ascii_is_escaped() {
        assert_eq!(escaped("plain"), "plain");
        assert_eq!(
            escaped("f\u{fc}r \u{20ac} \u{1f600}"),
            "f\\xfcr \\u20ac \\U0001f600"
        );
    }
}
