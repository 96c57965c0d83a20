//! Strings that clients have for the numbers of a type (`@p4runtime_translation` with `string`).
//!
//! A port's string is its number in decimal digits, or the name of its interface. Strings of other types mean
//! nothing to the switch: each stands for a number of its own as long as an entry has it. What looks like a number
//! of the type is that number as long as no other string has it, and the empty string is zero likewise; others
//! get numbers from the highest down, for programs tend to know the low ones.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::status::{Code, Refusal, Result, invalid};

/// Names of interfaces, and the numbers of their ports.
pub(crate) type PortNames = Arc<BTreeMap<String, u16>>;

/// Strings that are kept unused before anybody looks for them.
const UNUSED: usize = 1024;

/// Whether a string that nobody has used may get a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// In what is inserted or modified.
    New,
    /// Elsewhere: nothing would remember it, so it is refused.
    Known,
}

/// The strings of one type; clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Names(Arc<Meaning>);

/// The same type of the same p4info.
impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Names {}

#[derive(Debug)]
enum Meaning {
    Ports {
        names: PortNames,
        /// Clients have written names, so that they get them too.
        by_name: AtomicBool,
    },
    Free(Mutex<Given>),
}

#[derive(Debug, Default)]
struct Given {
    numbers: BTreeMap<Arc<str>, u128>,
    strings: BTreeMap<u128, Arc<str>>,
    /// The number given last without being asked for.
    last: u128,
    /// How many strings had entries when that was last looked for.
    used: usize,
    /// The type's highest number.
    highest: u128,
}

impl Names {
    /// Strings of ports.
    pub fn ports(names: PortNames) -> Self {
        let by_name = AtomicBool::new(false);
        Self(Arc::new(Meaning::Ports { names, by_name }))
    }

    /// Strings that mean nothing.
    pub fn free() -> Self {
        Self(Arc::new(Meaning::Free(Mutex::default())))
    }

    /// Whether its numbers are those of ports.
    pub fn are_ports(&self) -> bool {
        matches!(&*self.0, Meaning::Ports { .. })
    }

    /// The number of a string, below 2^`bits`. `what` names the value in the refusal.
    pub fn number(
        &self,
        text: &str,
        bits: u32,
        naming: Naming,
        what: impl Display,
    ) -> Result<u128> {
        let highest = u128::MAX >> (128 - bits.clamp(1, 128));
        let decimal = number_in_digits(text).filter(|number| *number <= highest);
        match &*self.0 {
            Meaning::Ports { names, by_name } => {
                if let Some(number) = decimal {
                    return Ok(number);
                }
                let Some(port) = names.get(text) else {
                    return invalid(format!(
                        "{what}: found {text:?}, expected the number of a port in decimal digits, or its interface's name"
                    ));
                };
                if naming == Naming::New {
                    by_name.store(true, Ordering::Relaxed);
                }
                Ok((*port).into())
            }
            Meaning::Free(given) => {
                let mut given = lock(given);
                given.highest = highest;
                if let Some(number) = given.numbers.get(text) {
                    return Ok(*number);
                }
                let wanted = if text.is_empty() { Some(0) } else { decimal };
                let free = wanted.filter(|number| !given.strings.contains_key(number));
                match (naming, free) {
                    (Naming::Known, Some(number)) => Ok(number),
                    (Naming::Known, None) => Err(Refusal::new(
                        Code::NotFound,
                        format!("{what}: no entry has the string {text:?}"),
                    )),
                    (Naming::New, Some(number)) => Ok(given.put(text, number)),
                    (Naming::New, None) => match given.next() {
                        Some(number) => Ok(given.put(text, number)),
                        None => Err(Refusal::new(
                            Code::ResourceExhausted,
                            format!(
                                "{what}: each of the {highest} numbers that are not zero stands for another string"
                            ),
                        )),
                    },
                }
            }
        }
    }

    /// The string of a number; decimal digits, if clients have given it none.
    pub fn text(&self, number: u128) -> String {
        let known = match &*self.0 {
            Meaning::Ports { names, by_name } if by_name.load(Ordering::Relaxed) => names
                .iter()
                .find(|(_, port)| u128::from(**port) == number)
                .map(|(name, _)| name.clone()),
            Meaning::Ports { .. } => None,
            Meaning::Free(given) => lock(given)
                .strings
                .get(&number)
                .map(|text| text.to_string()),
        };
        known.unwrap_or_else(|| number.to_string())
    }

    /// Lets no other string have a number that the program's entries have; gives its string.
    pub fn keep(&self, number: u128) -> String {
        let text = self.text(number);
        if let Meaning::Free(given) = &*self.0 {
            lock(given).put(&text, number);
        }
        text
    }

    /// Gives the strings of a configuration before the numbers that they had there, as far as those are free.
    pub fn adopt(&self, before: &Self) {
        match (&*self.0, &*before.0) {
            (Meaning::Ports { by_name, .. }, Meaning::Ports { by_name: was, .. }) => {
                by_name.store(was.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            (Meaning::Free(given), Meaning::Free(before)) => {
                let before = lock(before);
                let mut given = lock(given);
                for (text, number) in &before.numbers {
                    if !given.strings.contains_key(number) && !given.numbers.contains_key(text) {
                        given.put(text, *number);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether it is worth looking which strings are still in use.
    pub fn is_crowded(&self) -> bool {
        let Meaning::Free(given) = &*self.0 else {
            return false;
        };
        let given = lock(given);
        let room = usize::try_from(given.highest).unwrap_or(usize::MAX);
        // Half of the room that was left, so that numbers don't run out while unused strings have some.
        let half = given.used + room.saturating_sub(given.used).div_ceil(2);
        room > 0 && given.numbers.len() >= half.min(2 * given.used + UNUSED)
    }

    /// Forgets all strings but these.
    pub fn retain(&self, used: &HashSet<Vec<u8>>) {
        if let Meaning::Free(given) = &*self.0 {
            let mut given = lock(given);
            given
                .numbers
                .retain(|text, _| used.contains(text.as_bytes()));
            let Given {
                numbers, strings, ..
            } = &mut *given;
            strings.retain(|_, text| numbers.contains_key(text));
            given.used = given.numbers.len();
        }
    }
}

impl Given {
    fn put(&mut self, text: &str, number: u128) -> u128 {
        let text: Arc<str> = text.into();
        self.numbers.insert(Arc::clone(&text), number);
        self.strings.insert(number, text);
        number
    }

    /// A number that is not zero and no string has, other ones than those given lately.
    fn next(&mut self) -> Option<u128> {
        let highest = self.highest;
        let others = self.strings.len() - usize::from(self.strings.contains_key(&0));
        if others as u128 >= highest {
            return None;
        }
        loop {
            self.last = match self.last {
                0 | 1 => highest,
                last => (last - 1).min(highest),
            };
            if !self.strings.contains_key(&self.last) {
                return Some(self.last);
            }
        }
    }
}

fn lock(given: &Mutex<Given>) -> MutexGuard<'_, Given> {
    given.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number that decimal digits are, if they are written as this switch writes it.
fn number_in_digits(text: &str) -> Option<u128> {
    let number: u128 = text.parse().ok()?;
    (text.bytes().all(|digit| digit.is_ascii_digit()) && (text == "0" || !text.starts_with('0')))
        .then_some(number)
}

/// Whether a type's name, or the end of its URI, has the word port.
pub(crate) fn is_of_ports(name: &str, uri: &str) -> bool {
    let end = uri.rsplit('/').next().unwrap_or_default();
    has_word(name, "port") || has_word(end, "port")
}

/// Whether a word is in a name, where words begin with capitals or after what is no letter.
fn has_word(name: &str, word: &str) -> bool {
    let mut words = vec![String::new()];
    let mut small_before = false;
    for letter in name.chars() {
        if !letter.is_ascii_alphabetic() || letter.is_ascii_uppercase() && small_before {
            words.push(String::new());
        }
        small_before = letter.is_ascii_lowercase();
        if letter.is_ascii_alphabetic()
            && let Some(last) = words.last_mut()
        {
            last.push(letter.to_ascii_lowercase());
        }
    }
    words.iter().any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(names: &Names, text: &str, bits: u32) -> Option<u128> {
        names.number(text, bits, Naming::New, "x").ok()
    }

    fn used(strings: &[&str]) -> HashSet<Vec<u8>> {
        strings
            .iter()
            .map(|text| text.as_bytes().to_vec())
            .collect()
    }

    #[test]
    fn strings_get_numbers_of_their_own() {
        let names = Names::free();
        for (text, number) in [
            ("red", 1023),
            ("blue", 1022),
            ("red", 1023),
            ("", 0),
            ("0", 1021),
            ("7", 7),
            ("1023", 1020),
            ("007", 1019),
            ("2000", 1018),
        ] {
            assert_eq!(new(&names, text, 10), Some(number), "{text:?}");
            assert_eq!(names.text(number), text);
        }
        assert_eq!(names.text(500), "500");
    }

    #[test]
    fn a_read_gives_no_numbers() {
        let names = Names::free();
        let refusal = names.number("red", 10, Naming::Known, "vrf").unwrap_err();
        assert_eq!(refusal.code, Code::NotFound);
        assert_eq!(refusal.message, "vrf: no entry has the string \"red\"");
        assert_eq!(names.number("8", 10, Naming::Known, "x"), Ok(8));
        assert_eq!(names.text(8), "8");
        assert_eq!(new(&names, "blue", 10), Some(1023));
        assert_eq!(names.number("blue", 10, Naming::Known, "x"), Ok(1023));
    }

    #[test]
    fn numbers_come_back() {
        let names = Names::free();
        for text in ["a", "b", "c"] {
            assert!(new(&names, text, 2).is_some());
        }
        let refusal = names.number("d", 2, Naming::New, "vrf").unwrap_err();
        assert_eq!(refusal.code, Code::ResourceExhausted);
        assert_eq!(
            refusal.message,
            "vrf: each of the 3 numbers that are not zero stands for another string"
        );
        assert!(names.is_crowded());
        names.retain(&used(&["a", "c"]));
        assert_eq!(new(&names, "d", 2), Some(2), "b's");
        assert_eq!(
            (new(&names, "a", 2), new(&names, "c", 2)),
            (Some(3), Some(1))
        );
    }

    #[test]
    fn unused_strings_are_bounded() {
        let names = Names::free();
        let mut most = 0;
        for count in 0..10_000 {
            if names.is_crowded() {
                names.retain(&used(&["kept"]));
            }
            let text = if count == 5 {
                "kept".to_owned()
            } else {
                format!("y{count}")
            };
            new(&names, &text, 64);
            let Meaning::Free(given) = &*names.0 else {
                unreachable!()
            };
            most = most.max(lock(given).numbers.len());
        }
        assert!(most <= UNUSED + 4, "{most}");
    }

    #[test]
    fn ports_are_numbers_or_interfaces() {
        let interfaces = [("Ethernet0".to_owned(), 4)].into_iter().collect();
        let names = Names::ports(Arc::new(interfaces));
        for (text, expected) in [("0", Some(0)), ("511", Some(511)), ("Ethernet0", Some(4))] {
            assert_eq!(names.text(4), "4");
            assert_eq!(new(&names, text, 9), expected);
        }
        assert_eq!(
            (names.text(4), names.text(5)),
            ("Ethernet0".to_owned(), "5".to_owned())
        );
        for wrong in ["", "512", "-1", "+1", "0x1", "01", "eth0", "1 ", "\u{661}"] {
            assert_eq!(new(&names, wrong, 9), None, "{wrong:?}");
        }
        let refusal = names.number("eth0", 9, Naming::New, "port").unwrap_err();
        assert_eq!(
            refusal.message,
            "port: found \"eth0\", expected the number of a port in decimal digits, or its interface's name"
        );
    }

    #[test]
    fn a_new_configuration_goes_on_with_the_numbers() {
        let (before, after) = (Names::free(), Names::free());
        assert_eq!(after.keep(1023), "1023");
        new(&before, "red", 10);
        new(&before, "blue", 10);
        after.adopt(&before);
        assert_eq!(new(&after, "blue", 10), Some(1022));
        assert_eq!(new(&after, "red", 10), Some(1021), "the program has 1023");
    }

    #[test]
    fn types_of_ports_are_found_by_name() {
        for (name, uri, expected) in [
            ("port_id_t", "", true),
            ("PortId_t", "", true),
            ("EgressPort", "", true),
            ("port", "", true),
            ("T", "p4.org/psa/v1/PortIdInHeader_t", true),
            ("T", "ports.org/id", false),
            ("report_t", "", false),
            ("vrf_id_t", "", false),
            ("Portal", "", false),
        ] {
            assert_eq!(is_of_ports(name, uri), expected, "{name} {uri}");
        }
    }
}
