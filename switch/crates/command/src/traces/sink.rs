//! Where traces are written. What can't be written is lost in whole traces, so that its reader can go on behind it.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use super::options::Place;

/// What became of some traces.
#[derive(Debug)]
pub enum Written {
    Whole,
    /// They are lost; later ones may find room again.
    Lost(io::Error),
    /// They are lost, and so is whatever comes.
    Over(io::Error),
}

/// A file, a pipe with a name, or a stream.
pub enum Sink {
    /// Ends behind a whole trace, whatever is lost.
    Regular(File),
    /// Open while somebody reads it: one who comes later begins with a whole trace.
    Pipe(PathBuf, Option<File>),
    Stream(File),
}

impl Sink {
    /// Opens a file that isn't a pipe, and empties it.
    pub fn open(place: &Place) -> io::Result<Self> {
        let path = match place {
            Place::Stdout => {
                // Without the standard library's buffer, which would keep a trace that can't be written.
                let stdout = io::stdout().as_fd().try_clone_to_owned()?;
                return Ok(Self::Stream(stdout.into()));
            }
            Place::File(path) => path,
        };
        if std::fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo()) {
            return Ok(Self::Pipe(path.clone(), None));
        }
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        if !file.metadata()?.is_file() {
            return Ok(Self::Stream(file));
        }
        file.set_len(0)?;
        Ok(Self::Regular(file))
    }

    /// Writes whole traces. A pipe is waited for until somebody reads it.
    pub fn write(&mut self, traces: &[u8]) -> Written {
        match self {
            Self::Regular(file) => {
                let before = file.metadata().map(|about| about.len());
                let Err(error) = file.write_all(traces) else {
                    return Written::Whole;
                };
                match before.and_then(|length| file.set_len(length)) {
                    Ok(()) => Written::Lost(error),
                    Err(_) => Written::Over(error),
                }
            }
            Self::Pipe(path, open) => {
                let file = match open {
                    Some(file) => Ok(file),
                    None => OpenOptions::new()
                        .write(true)
                        .open(path)
                        .map(|file| open.insert(file)),
                };
                match file.and_then(|file| file.write_all(traces)) {
                    Ok(()) => Written::Whole,
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                        *open = None;
                        Written::Lost(error)
                    }
                    Err(error) => Written::Over(error),
                }
            }
            Self::Stream(file) => match write_all(file, traces) {
                Ok(()) => Written::Whole,
                Err((0, error)) if error.kind() != ErrorKind::BrokenPipe => Written::Lost(error),
                Err((_, error)) => Written::Over(error),
            },
        }
    }
}

/// As [`Write::write_all`]; an error comes with the number of bytes that were written.
fn write_all(file: &mut File, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return Err((written, ErrorKind::WriteZero.into())),
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err((written, error)),
        }
    }
    Ok(())
}
