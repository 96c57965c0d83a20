//! Options of the log.

use std::path::{Path, PathBuf};

use super::format::Format;
use super::levels::{Level, Levels, Part};
use crate::arguments::Given;
use crate::ending::{Ended, input};
use crate::numbers::number;
use crate::quoted::quoted;

const MAX_BYTES: u64 = 5 << 20;
const MAX_FILES: u32 = 3;

/// Where the log goes, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logging {
    /// To standard output.
    pub console: bool,
    /// To a file.
    pub file: Option<PathBuf>,
    /// How lines look.
    pub format: Format,
    /// What is written.
    pub levels: Levels,
    /// Whether lines about packets are wanted where the log isn't apart.
    pub packets: bool,
    /// Each line at once.
    pub flush: bool,
    /// When the file is rotated.
    pub max_bytes: u64,
    /// How many rotated files are kept.
    pub max_files: u32,
    /// How much of each packet is logged in hexadecimal.
    pub dump_bytes: usize,
}

impl Default for Logging {
    fn default() -> Self {
        Self {
            console: false,
            file: None,
            format: Format::User,
            levels: Levels::all(Level::Info),
            packets: false,
            flush: false,
            max_bytes: MAX_BYTES,
            max_files: MAX_FILES,
            dump_bytes: 0,
        }
    }
}

impl Logging {
    /// Whether there is a log besides what a user has to know, on stderr.
    pub fn is_apart(&self) -> bool {
        self.console || self.file.is_some()
    }
}

/// Reads and checks the options, and adds what is to be told about them.
pub fn read(given: &Given, notices: &mut Vec<String>) -> Result<Logging, Ended> {
    let file = given.path("log-file").map(Path::to_owned);
    let console = given.has("log-console");
    let max_bytes = number(given, "log-file-max-size", 1..=u64::MAX.into())?;
    let max_files = number(given, "log-file-max-files", 0..=u32::MAX.into())?;
    let dump_bytes = number(given, "dump-packet-data", 0..=u32::MAX.into())?;
    if console && file.is_some() {
        return input("--log-console and --log-file exclude each other");
    }
    let is_apart = console || file.is_some();
    let word = given.text("log-level").unwrap_or_default();
    let Some(level) = Level::of_word(&word) else {
        let (word, words) = (quoted(&word), words(Level::ALL.map(Level::word)));
        return input(format!("--log-level {word}: expected one of {words}"));
    };
    let (format, of_parts) = match given.text("log") {
        Some(spec) => read_spec(&spec)?,
        None => (Format::Text, Vec::new()),
    };
    // Users who asked for no log see what they have to know.
    let mut levels = Levels::all(if is_apart {
        level
    } else {
        level.max(Level::Info)
    });
    for (part, level) in &of_parts {
        levels.set(*part, *level);
    }
    if file.is_none() {
        for id in ["log-flush", "log-file-max-size", "log-file-max-files"] {
            if given.has(id) {
                notices.push(format!("--{id} ignored (there is no --log-file)"));
            }
        }
    }
    let mut dump_bytes = dump_bytes.and_then(|bytes| bytes.try_into().ok());
    if dump_bytes.is_some_and(|bytes| bytes > 0) && !levels.has(Part::Packets, Level::Info) {
        notices.push(format!(
            "--dump-packet-data ignored (--log-level {word} leaves packets out)"
        ));
        dump_bytes = None;
    }
    Ok(Logging {
        console,
        file,
        format: match format {
            Format::Text if !is_apart => Format::User,
            format => format,
        },
        levels,
        packets: of_parts.iter().any(|(part, _)| *part == Part::Packets),
        flush: given.has("log-flush"),
        max_bytes: max_bytes.map_or(MAX_BYTES, |bytes| bytes.try_into().unwrap_or(u64::MAX)),
        max_files: max_files.map_or(MAX_FILES, |files| files.try_into().unwrap_or(u32::MAX)),
        dump_bytes: dump_bytes.unwrap_or(0),
    })
}

/// Reads `FORMAT[,PART=LEVEL]...`.
fn read_spec(spec: &str) -> Result<(Format, Vec<(Part, Level)>), Ended> {
    let option = format!("--log {}", quoted(spec));
    let mut items = spec.split(',');
    let format = match items.next() {
        Some("text") => Format::Text,
        Some("json") => Format::Json,
        _ => {
            return input(format!(
                "{option}: expected text or json, then PART=LEVEL, for example json,gnmi=debug"
            ));
        }
    };
    let mut levels = Vec::new();
    for item in items {
        let Some((part, level)) = item.split_once('=') else {
            let item = quoted(item);
            return input(format!("{option}: expected PART=LEVEL, got {item}"));
        };
        let (Some(of_part), Some(of_level)) = (Part::of_word(part), Level::of_word(level)) else {
            let (word, words) = match Part::of_word(part) {
                None => (part, words(Part::ALL.map(Part::word))),
                Some(_) => (level, words(Level::ALL.map(Level::word))),
            };
            let word = quoted(word);
            return input(format!("{option}: expected one of {words}, got {word}"));
        };
        if levels.iter().any(|(other, _)| *other == of_part) {
            return input(format!("{option}: {part} is given twice"));
        }
        levels.push((of_part, of_level));
    }
    Ok((format, levels))
}

fn words<const N: usize>(words: [&str; N]) -> String {
    words.join(", ")
}
