//! Parser value sets: select values that the control plane gives.

use super::entry::Match;
use super::info::ValueSetInfo;
use crate::bits::{Writer, magnitude, read};
use crate::error::{Code, Result, WriteError, invalid};
use crate::pipeline::Pipeline;
use crate::program::{MaskedWords, ValueSetShape};

impl Pipeline {
    /// The program's value sets.
    #[must_use]
    pub fn value_sets(&self) -> Vec<ValueSetInfo> {
        let sets = self.program.value_sets.iter();
        let own = sets.filter(|set| set.view.is_none());
        own.map(|set| ValueSetInfo {
            name: set.name.clone(),
            size: set.size,
            bits: set.bits.clone(),
        })
        .collect()
    }

    /// The members of a value set, one match per field; `NotFound` for an unknown set.
    pub fn value_set_read(&self, name: &str) -> Result<Vec<Vec<Match>>> {
        let number = self.value_set_number(name)?;
        let set = &self.program.value_sets[number];
        let describe = |words: &[(u64, u64)]| {
            let mut rest = words;
            let fields = set.bits.iter().map(|bits| {
                let (field, after) = rest.split_at(bits.div_ceil(64) as usize);
                rest = after;
                let bytes = |part: fn(&(u64, u64)) -> u64| {
                    let bytes = field.iter().flat_map(|word| part(word).to_be_bytes());
                    let skipped = field.len() * 8 - bits.div_ceil(8) as usize;
                    bytes.skip(skipped).collect::<Vec<u8>>()
                };
                let (value, mask) = (bytes(|word| word.0), bytes(|word| word.1));
                if mask == full(*bits) {
                    Match::Exact(value)
                } else {
                    Match::Ternary { value, mask }
                }
            });
            fields.collect()
        };
        let members = self.state.externs.value_sets[number].iter();
        Ok(members.map(|words| describe(words)).collect())
    }

    /// Replaces the members of a value set. A member has a match for each field: exact, ternary, a
    /// prefix, or any. The set stays as before after an error: `NotFound` for an unknown set,
    /// `InvalidArgument` for a member of another shape, `ResourceExhausted` for more members than
    /// it holds.
    pub fn value_set_write(&mut self, name: &str, members: &[Vec<Match>]) -> Result<()> {
        let number = self.value_set_number(name)?;
        let set = &self.program.value_sets[number];
        if members.len() > set.size as usize {
            let message = format!(
                "value set {name}: {} members; it holds {}",
                members.len(),
                set.size
            );
            return Err(WriteError::new(Code::ResourceExhausted, message));
        }
        let resolved = members
            .iter()
            .map(|member| resolve(set, member))
            .collect::<Result<Vec<_>>>()?;
        let views = self.program.value_sets.iter().enumerate();
        for (place, seen) in views {
            if let Some(view) = seen.view.as_ref().filter(|view| view.of as usize == number) {
                let members = resolved.iter();
                let cut = members.map(|words| cut(words, &set.bits, &seen.bits, &view.masks));
                self.state.externs.value_sets[place] = cut.collect();
            }
        }
        self.state.externs.value_sets[number] = resolved;
        Ok(())
    }

    fn value_set_number(&self, name: &str) -> Result<usize> {
        let sets = &self.program.value_sets;
        sets.iter().position(|set| set.name == name).ok_or_else(|| {
            WriteError::new(Code::NotFound, format!("no value set is called {name}"))
        })
    }
}

/// The words of a member whose fields have other widths, without the bits that don't count.
fn cut(words: &[(u64, u64)], from: &[u32], to: &[u32], masks: &[u64]) -> MaskedWords {
    let string = |part: fn(&(u64, u64)) -> u64| {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        for (word, width) in words.iter().zip(widths(from)) {
            writer.push(part(word), width);
        }
        writer.finish();
        bytes
    };
    let (values, wanted) = (string(|word| word.0), string(|word| word.1));
    let mut offset = 0;
    let words = widths(to).zip(masks).map(|(width, mask)| {
        let at = offset;
        offset += width as usize;
        let mask = read(&wanted, at, width) & mask;
        (read(&values, at, width) & mask, mask)
    });
    words.collect()
}

/// The bits of each word of fields, the most significant first.
fn widths(fields: &[u32]) -> impl Iterator<Item = u32> {
    let words = |bits: u32| {
        let first = (bits - 1) % 64 + 1;
        std::iter::once(first).chain(std::iter::repeat_n(64, bits.div_ceil(64) as usize - 1))
    };
    fields.iter().flat_map(move |bits| words(*bits))
}

fn full(bits: u32) -> Vec<u8> {
    let mut bytes = vec![0xff; bits.div_ceil(8) as usize];
    if !bits.is_multiple_of(8)
        && let Some(first) = bytes.first_mut()
    {
        *first = (1 << (bits % 8)) - 1;
    }
    bytes
}

fn resolve(set: &ValueSetShape, member: &[Match]) -> Result<MaskedWords> {
    let invalid = |message: String| invalid(format!("value set {}: {message}", set.name));
    if member.len() != set.bits.len() {
        return invalid(format!(
            "a member of {} fields where {} are expected",
            member.len(),
            set.bits.len()
        ));
    }
    let mut words = Vec::new();
    for (field, &bits) in member.iter().zip(&set.bits) {
        let (value, mask) = match field {
            Match::Exact(value) | Match::Optional(Some(value)) => (value.clone(), full(bits)),
            Match::Optional(None) => (Vec::new(), Vec::new()),
            Match::Ternary { value, mask } => (value.clone(), mask.clone()),
            Match::Lpm { value, prefix_len } if *prefix_len <= bits => {
                let mut mask = full(bits);
                for bit in 0..bits - prefix_len {
                    let place = mask.len() - 1 - bit as usize / 8;
                    mask[place] &= !(1 << (bit % 8));
                }
                (value.clone(), mask)
            }
            Match::Lpm { prefix_len, .. } => {
                return invalid(format!(
                    "a prefix of {prefix_len} bits in a field of {bits}"
                ));
            }
            Match::Range { .. } => {
                return invalid("ranges are not supported in a value set".into());
            }
        };
        let (Some(value), Some(mask)) = (sized(&value, bits), sized(&mask, bits)) else {
            return invalid(format!("a value that does not fit {bits} bits"));
        };
        if value
            .iter()
            .zip(&mask)
            .any(|(value, mask)| value & !mask != 0)
        {
            return invalid("a value has bits outside its mask".into());
        }
        words.extend(value.into_iter().zip(mask));
    }
    Ok(words.into())
}

/// Big-endian bytes as words, most significant first; `None` if the field is too short.
fn sized(bytes: &[u8], bits: u32) -> Option<Vec<u64>> {
    let (bytes, used) = magnitude(bytes);
    if used > bits as usize {
        return None;
    }
    let mut words = vec![0; bits.div_ceil(64) as usize];
    for (word, chunk) in words.iter_mut().rev().zip(bytes.rchunks(8)) {
        *word = chunk
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte));
    }
    Some(words)
}
