//! bmv2's way of spelling a command line.
//!
//! bmv2 reads options with Boost.Program_options: a long option may be abbreviated while
//! unambiguous, an option with a value is given once only, and `--pcap` may lack its value. `--`
//! stands before the options of the target; here all options are known on both sides of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::ending::{Ended, input};
use crate::quoted::quoted;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    /// Its name in full, without dashes.
    pub id: String,
    pub takes_value: bool,
    pub repeatable: bool,
    /// The value of an option given without one; None if it must have one.
    pub without_value: Option<String>,
}

/// All options by all their names, with their dashes.
pub type Spellings = BTreeMap<String, Spelling>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Ids and values, in the order given.
    options: Vec<(String, Option<OsString>)>,
    pub words: Vec<OsString>,
}

impl Given {
    /// The ids of the given options, in their order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.options.iter().map(|(id, _)| id.as_str())
    }

    pub fn has(&self, id: &str) -> bool {
        self.ids().any(|given| given == id)
    }

    /// The value of an option as text, the last if it was given by more than one name.
    pub fn text(&self, id: &str) -> Option<String> {
        let (_, value) = self.options.iter().rfind(|(given, _)| given == id)?;
        Some(value.as_ref()?.to_string_lossy().into())
    }

    /// The same command line with each option as `--name` or `--name=value`, and the words behind `--`.
    pub fn in_full(&self) -> impl Iterator<Item = OsString> {
        let options = self.options.iter().map(|(id, value)| {
            let mut word = OsString::from(format!("--{id}"));
            if let Some(value) = value {
                word.push("=");
                word.push(value);
            }
            word
        });
        let words = self.words.iter().cloned();
        options.chain([OsString::from("--")]).chain(words)
    }
}

/// Reads a command line, without the program's name.
pub fn read(
    arguments: impl IntoIterator<Item = OsString>,
    spellings: &Spellings,
) -> Result<Given, Ended> {
    let mut given = Given::default();
    let mut names = BTreeSet::new();
    let mut rest: VecDeque<OsString> = arguments.into_iter().collect();
    while let Some(word) = rest.pop_front() {
        let bytes = word.as_bytes();
        if bytes == b"--" {
            continue;
        }
        if bytes.len() < 2 || bytes[0] != b'-' {
            given.words.push(word);
            continue;
        }
        let (name, value) = if bytes[1] == b'-' {
            split_long(bytes, spellings)?
        } else {
            split_short(bytes, spellings)?
        };
        let spelling = &spellings[&name];
        if spelling.takes_value && !spelling.repeatable && names.contains(&name) {
            return input(format!("{name} is given twice"));
        }
        let value = match (spelling.takes_value, value) {
            (true, Some(value)) => Some(value),
            (true, None) => Some(following(&name, &mut rest, spelling)?),
            (false, None) => None,
            (false, Some(value)) => {
                return input(format!("{name} takes no value, got {}", quoted(value)));
            }
        };
        given.options.push((spelling.id.clone(), value));
        names.insert(name);
    }
    Ok(given)
}

/// A name in full, and the value that is written in the same word.
type Split = (String, Option<OsString>);

fn split_long(word: &[u8], spellings: &Spellings) -> Result<Split, Ended> {
    let equals = word.iter().position(|byte| *byte == b'=');
    let abbreviation = String::from_utf8_lossy(&word[..equals.unwrap_or(word.len())]);
    let value = equals.map(|at| OsString::from_vec(word[at + 1..].to_vec()));
    Ok((full_name(&abbreviation, spellings)?, value))
}

/// A short option's value may follow without a space: `-Linfo`.
fn split_short(word: &[u8], spellings: &Spellings) -> Result<Split, Ended> {
    let text = String::from_utf8_lossy(word);
    let end = text.char_indices().nth(2).map(|(at, _)| at);
    let name = &text[..end.unwrap_or(text.len())];
    if !spellings.contains_key(name) {
        return input(format!("there is no option {name}; --help lists them"));
    }
    // Known names are ASCII, so the lossy text and the word have them at the same place.
    let value = end.map(|at| OsString::from_vec(word[at..].to_vec()));
    Ok((name.to_owned(), value))
}

fn full_name(abbreviation: &str, spellings: &Spellings) -> Result<String, Ended> {
    if spellings.contains_key(abbreviation) {
        return Ok(abbreviation.to_owned());
    }
    let names = spellings.keys().map(String::as_str);
    let candidates: Vec<&str> = names
        .filter(|name| name.starts_with(abbreviation))
        .collect();
    match candidates[..] {
        [] => input(format!(
            "there is no option {abbreviation}; --help lists them"
        )),
        [name] => Ok(name.to_owned()),
        _ => input(format!("{abbreviation} may be {}", candidates.join(" or "))),
    }
}

/// The value of an option that stands in the next word.
fn following(
    name: &str,
    rest: &mut VecDeque<OsString>,
    spelling: &Spelling,
) -> Result<OsString, Ended> {
    let next = rest.front().map(|word| word.as_bytes());
    if let Some(default) = &spelling.without_value {
        // The next word may be the value or the program. A program is a file, and ends in .json.
        let is_value = next.is_some_and(|word| {
            !word.starts_with(b"-")
                && !word.ends_with(b".json")
                && !Path::new(OsStr::from_bytes(word)).is_file()
        });
        let value = if is_value { rest.pop_front() } else { None };
        return Ok(value.unwrap_or_else(|| default.clone().into()));
    }
    match next {
        None | Some(b"--") => input(format!("{name}: the value is missing")),
        Some(_) => Ok(rest.pop_front().unwrap_or_default()),
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
