//! JSON as text: a space behind commas and colons, and ASCII only.

use std::fmt::Write;

use serde_json::Value;

pub(crate) fn written(content: &Value) -> String {
    let mut text = String::new();
    write(content, &mut text);
    text
}

fn write(content: &Value, text: &mut String) {
    match content {
        Value::Array(members) => {
            text.push('[');
            for (at, member) in members.iter().enumerate() {
                separate(at, text);
                write(member, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            for (at, (name, member)) in members.iter().enumerate() {
                separate(at, text);
                write_scalar(&Value::from(name.as_str()), text);
                text.push_str(": ");
                write(member, text);
            }
            text.push('}');
        }
        scalar => write_scalar(scalar, text),
    }
}

fn separate(at: usize, text: &mut String) {
    if at > 0 {
        text.push_str(", ");
    }
}

fn write_scalar(scalar: &Value, text: &mut String) {
    for character in scalar.to_string().chars() {
        if character.is_ascii() {
            text.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string does not fail.
            let _ = write!(text, "\\u{unit:04x}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn documents() {
        let content =
            json!({"a": [1, -2, true, null, "\u{e9}\n"], "b": {}, "c": [], "\u{1f600}": 1});
        let text = written(&content);
        assert_eq!(
            text,
            r#"{"a": [1, -2, true, null, "\u00e9\n"], "b": {}, "c": [], "\ud83d\ude00": 1}"#
        );
        let again: Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(again, content);
    }
}
