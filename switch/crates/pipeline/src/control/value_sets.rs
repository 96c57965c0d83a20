//! Parser value sets: select values that the control plane gives.

use super::entry::Match;
use super::info::ValueSetInfo;
use crate::bits::magnitude;
use crate::error::{Code, Result, WriteError, invalid};
use crate::pipeline::Pipeline;
use crate::program::{MaskedWords, ValueSetShape};

impl Pipeline {
    /// The program's value sets.
    #[must_use]
    pub fn value_sets(&self) -> Vec<ValueSetInfo> {
        let sets = self.program.value_sets.iter();
        sets.map(|set| ValueSetInfo {
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
