use super::instruction::{Address, Place};

#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// Words of runtime data.
    pub(crate) words: u32,
    /// None if it does nothing but its settings.
    pub(crate) start: Option<Address>,
    /// The settings that come before the instructions.
    pub(crate) settings: Box<[Setting]>,
    pub(crate) reads_parameters: bool,
}

/// An assignment that needs no computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// The word of this number of the runtime data.
    Parameter {
        parameter: u16,
        to: Place,
    },
    Constant {
        to: Place,
        value: u64,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) bits: u32,
    /// First word in the runtime data; the second follows if wider than 64 bits.
    pub(crate) word: u32,
}
