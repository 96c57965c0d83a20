//! How important a line is, which part of the switch says it, and which are written.

/// How important a line is; as a limit, the lowest that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Below debug, as in bmv2.
    Trace,
    Debug,
    /// News that a user may want.
    Info,
    /// News that a user should read.
    Warn,
    /// Something doesn't work.
    Error,
    /// As a limit: nothing is written.
    Off,
}

impl Level {
    /// All by their words on the command line and in JSON, the lowest first.
    pub const WORDS: [(&'static str, Self); 6] = [
        ("trace", Self::Trace),
        ("debug", Self::Debug),
        ("info", Self::Info),
        ("warn", Self::Warn),
        ("error", Self::Error),
        ("off", Self::Off),
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    /// Its name in lines of text.
    pub fn title(self) -> &'static str {
        match self {
            Self::Trace => "TRACE",
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARNING",
            Self::Error => "ERROR",
            Self::Off => "OFF",
        }
    }

    pub fn of_word(word: &str) -> Option<Self> {
        let known = Self::WORDS.into_iter().find(|(known, _)| *known == word)?;
        Some(known.1)
    }
}

impl From<tracing::Level> for Level {
    fn from(level: tracing::Level) -> Self {
        match level {
            tracing::Level::TRACE => Self::Trace,
            tracing::Level::DEBUG => Self::Debug,
            tracing::Level::INFO => Self::Info,
            tracing::Level::WARN => Self::Warn,
            tracing::Level::ERROR => Self::Error,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Everything else.
    Switch,
    /// Listening and connections, common to the protocols.
    Server,
    Gnmi,
    P4runtime,
    /// bmv2's runtime services.
    Thrift,
    /// Arrivals, departures and drops of packets.
    Packets,
    /// Interfaces and files.
    Ports,
    /// Certificates.
    Tls,
}

impl Part {
    pub const ALL: [Self; 8] = [
        Self::Switch,
        Self::Server,
        Self::Gnmi,
        Self::P4runtime,
        Self::Thrift,
        Self::Packets,
        Self::Ports,
        Self::Tls,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Server => "server",
            Self::Gnmi => "gnmi",
            Self::P4runtime => "p4runtime",
            Self::Thrift => "thrift",
            Self::Packets => "packets",
            Self::Ports => "ports",
            Self::Tls => "tls",
        }
    }

    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.word() == word)
    }

    /// The part of this target: its word, or the path of a module of ours. None for other crates.
    pub fn of_target(target: &str) -> Option<Self> {
        match target.strip_prefix("phb_") {
            None => Self::of_word(target),
            Some(path) => {
                let known = path.rsplit("::").find_map(Self::of_word);
                Some(known.unwrap_or(Self::Switch))
            }
        }
    }
}

/// The lowest level that is written, by part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels([Level; Part::ALL.len()]);

impl Levels {
    pub fn all(level: Level) -> Self {
        Self([level; Part::ALL.len()])
    }

    pub fn set(&mut self, part: Part, level: Level) {
        self.0[part as usize] = level;
    }

    /// Whether a line is written.
    pub fn has(&self, part: Part, level: Level) -> bool {
        level >= self.0[part as usize]
    }

    /// The lowest level that any part writes.
    pub fn lowest(&self) -> Level {
        self.0.into_iter().min().unwrap_or(Level::Off)
    }
}
