//! Errors of a world.

use std::path::PathBuf;
use std::{fmt, io};

use crate::node::{Port, Time};

/// An error when a world is built or run.
#[derive(Debug)]
pub enum WorldError {
    /// A node with this name exists already.
    DuplicateName(String),
    /// The port has a wire already.
    PortInUse {
        /// The node's name.
        node: String,
        /// The port.
        port: Port,
    },
    /// Losses above a million of a million frames.
    LossTooLarge(u32),
    /// Events at one time without end: a timer does not move, or a loop takes no time.
    Stuck {
        /// Name of the last event's node.
        node: String,
        /// The time, in ns.
        at: Time,
    },
    /// A capture file could not be written.
    Capture {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        error: io::Error,
    },
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateName(name) => write!(f, "node {name}: the name is taken"),
            Self::PortInUse { node, port } => {
                write!(f, "node {node}: port {port} has a wire already")
            }
            Self::LossTooLarge(loss) => {
                write!(
                    f,
                    "{loss} of a million frames are to be lost, at most 1000000 can be"
                )
            }
            Self::Stuck { node, at } => write!(f, "node {node}: events without end at {at} ns"),
            Self::Capture { path, error } => write!(f, "capture {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for WorldError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Capture { error, .. } => Some(error),
            _ => None,
        }
    }
}
