//! Hashes and checksums over fields.

use super::hash::Algorithm;
use super::instruction::{Address, Place};
use super::slot::{HeaderSpan, Slot, VariablePlace, WordField};
use crate::bits::mask;

#[derive(Debug)]
pub(crate) struct Calculation {
    pub(crate) algorithm: Algorithm,
    /// How to add up the fields in place, where possible.
    pub(crate) sum: Option<Sum>,
    /// How to write them down by bytes, where possible.
    pub(crate) bytes: Option<Bytes>,
    pub(crate) inputs: Vec<CalculationInput>,
    pub(crate) payload: bool,
}

#[derive(Debug)]
pub(crate) enum CalculationInput {
    /// Skipped while the header whose validity is in `valid` is invalid.
    Field {
        slot: Slot,
        bits: u32,
        signed: bool,
        valid: Option<u32>,
    },
    Constant {
        value: Box<[u8]>,
        bits: u32,
    },
    Header(HeaderSpan),
}

#[derive(Debug, Clone)]
pub(crate) struct Checksum {
    pub(crate) calculation: u32,
    pub(crate) target: WordField,
    pub(crate) valid: Option<u32>,
    pub(crate) condition: Option<Guard>,
}

/// A condition outside of controls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guard {
    pub(crate) start: Option<Address>,
    /// The word that is not zero if it holds.
    pub(crate) word: Place,
}

/// An Internet checksum (RFC 1071) over fields in place: 2^16 is 1 modulo 2^16-1, so a field counts
/// as its value shifted to its place in 16 bits.
#[derive(Debug, Clone)]
pub(crate) struct Sum {
    /// Validity of the header whose fields these are.
    pub(crate) valid: Option<u32>,
    pub(crate) fields: Vec<Part>,
    /// Fields that are signed or have more than 32 bits.
    pub(crate) long: Vec<LongPart>,
    /// A varbit at the end.
    pub(crate) variable: Option<(Option<u32>, VariablePlace)>,
}

/// A word of at most 32 bits and how far to shift it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    pub(crate) word: u16,
    pub(crate) shift: u8,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct LongPart {
    pub(crate) part: Part,
    pub(crate) mask: u64,
}

/// Fields of whole bytes and at most a word each, on their way into a buffer.
#[derive(Debug, Clone)]
pub(crate) struct Bytes {
    /// Word, bytes, and validity of its header.
    pub(crate) fields: Vec<(u16, u8, Option<u32>)>,
}

/// Bytes of the buffer; eight are written at a time.
pub(crate) const BUFFER: usize = 128;

impl Calculation {
    /// A calculation over `inputs`, and over the packet's payload behind them if `payload`.
    pub(crate) fn new(algorithm: Algorithm, inputs: Vec<CalculationInput>, payload: bool) -> Self {
        let (sum, bytes) = match algorithm {
            _ if payload => (None, None),
            Algorithm::Csum16 => (Sum::new(&inputs), None),
            Algorithm::Random => (None, None),
            _ => (None, Bytes::new(&inputs)),
        };
        Self {
            algorithm,
            sum,
            bytes,
            inputs,
            payload,
        }
    }
}

impl Sum {
    /// The sum for these inputs, if they are of at most one header, and a varbit only at the end.
    pub(crate) fn new(inputs: &[CalculationInput]) -> Option<Self> {
        let mut sum = Self {
            valid: None,
            fields: Vec::new(),
            long: Vec::new(),
            variable: None,
        };
        let mut offset = 0;
        for (index, input) in inputs.iter().enumerate() {
            let CalculationInput::Field {
                slot,
                bits,
                signed,
                valid,
            } = input
            else {
                return None;
            };
            if let Some(place) = VariablePlace::of(*slot) {
                if index + 1 != inputs.len() || offset % 16 != 0 {
                    return None;
                }
                sum.variable = Some((*valid, place));
                break;
            }
            if index == 0 {
                sum.valid = *valid;
            } else if sum.valid != *valid {
                return None;
            }
            let (first, words) = slot.words()?;
            for part in (0..words).rev() {
                let width = if part + 1 == words {
                    bits - part * 64
                } else {
                    64
                };
                offset += width;
                let part = Part {
                    word: (first + part) as u16,
                    shift: ((16 - offset % 16) % 16) as u8,
                };
                if width <= 32 && !*signed {
                    sum.fields.push(part);
                } else {
                    let mask = mask(width);
                    sum.long.push(LongPart { part, mask });
                }
            }
        }
        Some(sum)
    }
}

impl Bytes {
    /// A plan for these inputs, if all are such fields and fit the buffer.
    pub(crate) fn new(inputs: &[CalculationInput]) -> Option<Self> {
        let field = |input: &CalculationInput| match input {
            CalculationInput::Field {
                slot: Slot::Word { word },
                bits,
                valid,
                ..
            } if bits.is_multiple_of(8) => Some((*word as u16, (bits / 8) as u8, *valid)),
            _ => None,
        };
        let fields: Vec<_> = inputs.iter().map(field).collect::<Option<_>>()?;
        let total: usize = fields.iter().map(|field| usize::from(field.1)).sum();
        (total + 8 <= BUFFER).then_some(Self { fields })
    }
}
