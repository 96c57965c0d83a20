//! How lines look.

use std::fmt::Write as _;
use std::time::SystemTime;

use chrono::{DateTime, Local, SecondsFormat, Utc};
use serde_json::{Map, Value};

use super::levels::{Level, Part};

#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub at: SystemTime,
    pub level: Level,
    pub part: Part,
    pub message: String,
    pub fields: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Short lines for the user's terminal, where there is no other log.
    User,
    /// With time and level, as bmv2's.
    Text,
    /// An object per line.
    Json,
}

impl Format {
    pub fn line(self, line: &Line) -> String {
        match self {
            Self::User => format!("phb-switch: {}\n", words(line)),
            Self::Text => {
                let time = DateTime::<Local>::from(line.at).format("%H:%M:%S%.3f");
                format!("[{time}] [{}] {}\n", line.level.title(), words(line))
            }
            Self::Json => json(line),
        }
    }
}

/// The message, with the fields behind it.
fn words(line: &Line) -> String {
    let mut text = line.message.clone();
    // Packet lines say in words what their fields say.
    if line.part != Part::Packets {
        for (name, value) in &line.fields {
            let _ = match value {
                Value::String(value) => write!(text, " {name}={value}"),
                value => write!(text, " {name}={value}"),
            };
        }
    }
    if text.contains(['\n', '\r']) {
        text = text.replace('\n', "\\n").replace('\r', "\\r");
    }
    text
}

fn json(line: &Line) -> String {
    let time = DateTime::<Utc>::from(line.at).to_rfc3339_opts(SecondsFormat::Micros, true);
    let mut object = Map::new();
    object.insert("time".to_owned(), time.into());
    object.insert("level".to_owned(), line.level.word().into());
    object.insert("part".to_owned(), line.part.word().into());
    object.insert("message".to_owned(), line.message.as_str().into());
    for (name, value) in &line.fields {
        // The first four mean the same in every line.
        let name = match name.as_str() {
            "time" | "level" | "part" | "message" => format!("{name}_"),
            _ => name.clone(),
        };
        object.insert(name, value.clone());
    }
    let mut text = Value::Object(object).to_string();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn line(part: Part) -> Line {
        let mut fields = Map::new();
        fields.insert("client".to_owned(), "10.0.0.1:5".into());
        fields.insert("level".to_owned(), 3.into());
        Line {
            at: SystemTime::UNIX_EPOCH + Duration::from_millis(1_500),
            level: Level::Warn,
            part,
            message: "a \"line\"\nof two".to_owned(),
            fields,
        }
    }

    #[test]
    fn for_people() {
        let line = line(Part::Gnmi);
        assert_eq!(
            Format::User.line(&line),
            "phb-switch: a \"line\"\\nof two client=10.0.0.1:5 level=3\n"
        );
        let text = Format::Text.line(&line);
        // The hour depends on where the test runs.
        assert_eq!(
            text.split_once(':').map(|(_, rest)| &rest[2..]),
            Some(":01.500] [WARNING] a \"line\"\\nof two client=10.0.0.1:5 level=3\n")
        );
    }

    #[test]
    fn packets_say_it_in_words() {
        assert_eq!(
            Format::User.line(&line(Part::Packets)),
            "phb-switch: a \"line\"\\nof two\n"
        );
    }

    #[test]
    fn for_programs() {
        assert_eq!(
            Format::Json.line(&line(Part::Gnmi)),
            "{\"time\":\"1970-01-01T00:00:01.500000Z\",\"level\":\"warn\",\"part\":\"gnmi\",\
             \"message\":\"a \\\"line\\\"\\nof two\",\"client\":\"10.0.0.1:5\",\"level_\":3}\n"
        );
    }
}
