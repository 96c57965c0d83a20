//! Errors that end the command, and its exit codes.

use std::fmt;
use std::io;

/// Stopped, and all files are whole.
pub const OK: u8 = 0;

/// Why the command ends, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Bad input: the message names it.
    Input(String),
    /// The switch failed while running.
    Failed(String),
}

impl Ended {
    pub fn code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Input(_) => 2,
        }
    }

    /// Standard output takes no more.
    pub fn stdout(error: &io::Error) -> Self {
        Self::Failed(format!("standard output: {}", reason(error)))
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(message) | Self::Failed(message) => formatter.write_str(message),
        }
    }
}

pub fn input<T>(message: impl Into<String>) -> Result<T, Ended> {
    Err(Ended::Input(message.into()))
}

/// The words of an error, without std's number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}
