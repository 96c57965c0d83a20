//! Options of the log.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::format::Format;
use super::levels::{Level, Levels, Part};
use crate::ending::{Ended, input};
use crate::quoted::quoted;
use crate::values::{number, path, text, word};

const MAX_BYTES: u64 = 5 << 20;
const MAX_FILES: u32 = 3;

/// Options of the log and of captures.
#[derive(Debug, Args)]
pub struct LogOptions {
    #[arg(long, help = "Log to stdout.")]
    log_console: bool,
    #[arg(
        long,
        value_name = "FILE",
        value_parser = path(),
        value_hint = ValueHint::FilePath,
        help = "Log to a file. (default: none)"
    )]
    log_file: Option<PathBuf>,
    #[arg(
        long,
        short = 'L',
        value_name = "LEVEL",
        default_value = "trace",
        value_parser = word(&Level::WORDS, "one of trace, debug, info, warn, error, off"),
        help = "What is logged."
    )]
    log_level: Level,
    #[arg(
        long,
        value_name = "FORMAT[,PART=LEVEL]...",
        value_parser = text(),
        help = "How it is written, text or json, and levels of parts: switch, server, gnmi, p4runtime, thrift, packets, ports, \
                tls. Without a log of its own, of what goes to stderr. (default: text)"
    )]
    log: Option<String>,
    #[arg(long, help = "Write each line of the log file at once.")]
    log_flush: bool,
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = number::<u64>(1..=u64::MAX.into()),
        help = "When the log file is rotated. (default: 5242880)"
    )]
    log_file_max_size: Option<u64>,
    #[arg(
        long,
        value_name = "N",
        value_parser = number::<u32>(0..=u32::MAX.into()),
        help = "Rotated log files that are kept. (default: 3)"
    )]
    log_file_max_files: Option<u32>,
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "0",
        value_parser = number::<u32>(0..=u32::MAX.into()),
        help = "How much of each packet is logged in hexadecimal."
    )]
    dump_packet_data: u32,
    #[arg(
        long,
        value_name = "DIRECTORY",
        num_args = 0..=1,
        value_parser = path(),
        value_hint = ValueHint::DirPath,
        help = "Keep what passes each port in NAME_in.pcap and NAME_out.pcap; without a value, here."
    )]
    pub pcap: Option<PathBuf>,
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = number::<i128>(i128::MIN..=i128::MAX),
        help = "Instead of interface NAME, read NAME_in.pcap and write NAME_out.pcap, after a wait. (default: none)"
    )]
    pub use_files: Option<i128>,
    #[arg(long, help = "Print the start-up line as JSON.")]
    pub json: bool,
    #[arg(
        long,
        value_name = "FILE",
        value_parser = path(),
        value_hint = ValueHint::FilePath,
        help = "Write the start-up line, as JSON, to a file as soon as controllers can connect. (default: none)"
    )]
    pub ready_file: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logging {
    pub console: bool,
    pub file: Option<PathBuf>,
    pub format: Format,
    pub levels: Levels,
    /// Whether lines about packets are wanted where the log isn't apart.
    pub packets: bool,
    pub flush: bool,
    /// When the file is rotated.
    pub max_bytes: u64,
    pub max_files: u32,
    /// Bytes of each packet that are logged in hexadecimal.
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
    /// Whether there is a log besides the notices on stderr.
    pub fn is_apart(&self) -> bool {
        self.console || self.file.is_some()
    }
}

/// Checks the options, and adds notices about those without effect.
pub fn read(options: &LogOptions, notices: &mut Vec<String>) -> Result<Logging, Ended> {
    let (console, file) = (options.log_console, options.log_file.clone());
    if console && file.is_some() {
        return input("--log-console and --log-file exclude each other");
    }
    let is_apart = console || file.is_some();
    let level = options.log_level;
    let (format, of_parts) = match &options.log {
        Some(spec) => read_spec(spec)?,
        None => (Format::Text, Vec::new()),
    };
    // Without a log of its own, stderr has notices and errors only.
    let mut levels = Levels::all(if is_apart {
        level
    } else {
        level.max(Level::Info)
    });
    for (part, level) in &of_parts {
        levels.set(*part, *level);
    }
    if file.is_none() {
        let of_files = [
            ("log-flush", options.log_flush),
            ("log-file-max-size", options.log_file_max_size.is_some()),
            ("log-file-max-files", options.log_file_max_files.is_some()),
        ];
        let ignored = of_files.iter().filter(|(_, is_given)| *is_given);
        notices.extend(ignored.map(|(id, _)| format!("--{id} ignored (there is no --log-file)")));
    }
    let mut dump_bytes = usize::try_from(options.dump_packet_data).unwrap_or(usize::MAX);
    if dump_bytes > 0 && !levels.has(Part::Packets, Level::Info) {
        notices.push(format!(
            "--dump-packet-data ignored (--log-level {} leaves packets out)",
            level.word()
        ));
        dump_bytes = 0;
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
        flush: options.log_flush,
        max_bytes: options.log_file_max_size.unwrap_or(MAX_BYTES),
        max_files: options.log_file_max_files.unwrap_or(MAX_FILES),
        dump_bytes,
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
                Some(_) => (level, words(Level::WORDS.map(|(word, _)| word))),
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
