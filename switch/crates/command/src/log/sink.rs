//! Where lines are written: a stream, or a file that is rotated by size.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Map;

use super::format::{Format, Line};
use super::levels::{Level, Part};
use super::options::Logging;
use crate::ending::reason;

/// Lines that may wait for the file, unless each is written at once.
const LINES_IN_MEMORY: usize = 256;

/// Called with the reason why lines are lost.
type Tell = Box<dyn FnOnce(&str) + Send>;

/// Where lines are written. A full disk or a closed stream loses lines, and never stops the switch.
pub struct Sink {
    file: File,
    format: Format,
    rotation: Option<Rotation>,
    /// How many lines may wait.
    patience: usize,
    waiting: String,
    lines: usize,
    lost: u64,
    failing: Option<Tell>,
}

struct Rotation {
    path: PathBuf,
    max_bytes: u64,
    max_files: u32,
    length: u64,
}

impl Sink {
    /// `target` has been opened as the options say.
    pub fn new(target: File, logging: &Logging) -> Self {
        let of_file = |path: &PathBuf| {
            // Only regular files can be rotated.
            let about = target.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some(Rotation {
                path: path.clone(),
                max_bytes: logging.max_bytes,
                max_files: logging.max_files,
                length: about.len(),
            })
        };
        Self {
            rotation: logging.file.as_ref().and_then(of_file),
            file: target,
            format: logging.format,
            patience: match logging.file {
                Some(_) if !logging.flush => LINES_IN_MEMORY,
                _ => 1,
            },
            waiting: String::new(),
            lines: 0,
            lost: 0,
            failing: None,
        }
    }

    /// Sets a function to call, once, with the reason why lines are lost.
    pub fn on_failure(&mut self, tell: impl FnOnce(&str) + Send + 'static) {
        self.failing = Some(Box::new(tell));
    }

    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Takes a line that `missing` lost lines precede.
    pub fn write(&mut self, line: &Line, missing: u64) {
        if missing > 0 {
            self.add(&Line {
                at: SystemTime::now(),
                level: Level::Warn,
                part: Part::Switch,
                message: format!(
                    "{missing} lines are missing: there were more than could be written"
                ),
                fields: Map::new(),
            });
        }
        self.add(line);
    }

    fn add(&mut self, line: &Line) {
        let text = self.format.line(line);
        if self.is_full_with(text.len()) {
            self.flush();
            if let Err(error) = self.rotate() {
                self.lose(1, &error);
                return;
            }
        }
        self.waiting.push_str(&text);
        self.lines += 1;
        // Warnings and errors are written at once in any case.
        if self.lines >= self.patience || line.level >= Level::Warn {
            self.flush();
        }
    }

    pub fn flush(&mut self) {
        if self.lines == 0 {
            return;
        }
        let waiting = std::mem::take(&mut self.waiting);
        let lines = std::mem::take(&mut self.lines);
        if let Err(error) = self.file.write_all(waiting.as_bytes()) {
            self.lose(lines, &error);
        } else if let Some(rotation) = &mut self.rotation {
            rotation.length += waiting.len() as u64;
        }
    }

    fn lose(&mut self, lines: usize, error: &io::Error) {
        self.lost += lines as u64;
        if let Some(tell) = self.failing.take() {
            tell(&reason(error));
        }
    }

    fn is_full_with(&self, length: usize) -> bool {
        self.rotation.as_ref().is_some_and(|rotation| {
            let there = rotation.length + self.waiting.len() as u64;
            there > 0 && there + length as u64 >= rotation.max_bytes
        })
    }

    /// Goes on in a new file; if no files are kept, in the same one.
    fn rotate(&mut self) -> io::Result<()> {
        let Some(rotation) = &mut self.rotation else {
            return Ok(());
        };
        if rotation.max_files == 0 {
            return Ok(());
        }
        for number in (0..rotation.max_files).rev() {
            let from = numbered(&rotation.path, number);
            if from.exists() {
                std::fs::rename(from, numbered(&rotation.path, number + 1))?;
            }
        }
        let mut options = OpenOptions::new();
        self.file = options.append(true).create(true).open(&rotation.path)?;
        rotation.length = 0;
        Ok(())
    }
}

/// `FILE.1` and so on; `FILE` itself for 0.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number == 0 {
        return path.to_owned();
    }
    let mut name = OsString::from(path);
    name.push(format!(".{number}"));
    name.into()
}
