//! The instructions of controls, actions and expressions: three-address code over a packet's words.
//!
//! Fields, the parameters of the running action, and intermediate results are words of one array:
//! an operand takes 16 bits, an instruction 16 bytes. bmv2 computes with unlimited precision and
//! cuts at assignment; the loader proves from operand widths which results fit 64 bits, and makes a
//! [`super::operation::WideOperation`] of the others.

/// Number of a word of the packet.
pub(crate) type Place = u16;

pub(crate) type Address = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    #[inline(always)]
    pub(crate) fn holds<T: Ord>(self, left: T, right: T) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }

    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
        }
    }

    pub(crate) fn exchanged(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
            same => same,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
}

/// One instruction. `cut` is how many of the upper bits of a result are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Instruction {
    Constant {
        to: Place,
        value: u64,
    },
    Copy {
        from: Place,
        to: Place,
    },
    /// `from & mask`.
    Mask {
        from: Place,
        to: Place,
        mask: u64,
    },
    /// `(from >> by) & mask`.
    Slice {
        from: Place,
        to: Place,
        by: u8,
        mask: u64,
    },
    Add {
        left: Place,
        right: Place,
        to: Place,
        cut: u8,
    },
    AddConstant {
        left: Place,
        to: Place,
        cut: u8,
        value: u64,
    },
    ShiftLeftConstant {
        left: Place,
        to: Place,
        by: u8,
        cut: u8,
    },
    Or {
        left: Place,
        right: Place,
        to: Place,
    },
    Binary {
        operator: Operator,
        left: Place,
        right: Place,
        to: Place,
        cut: u8,
    },
    BinaryConstant {
        operator: Operator,
        left: Place,
        to: Place,
        cut: u8,
        value: u64,
    },
    Not {
        from: Place,
        to: Place,
        cut: u8,
    },
    /// The low bits of a word as a signed number; `unused` upper bits do not belong to it.
    SignExtend {
        from: Place,
        to: Place,
        unused: u8,
    },
    /// Not above `limit`; with `signed` operands, not below zero either.
    ClampUnsigned {
        from: Place,
        to: Place,
        signed: bool,
        limit: u64,
    },
    /// Within a signed number of a width, whose greatest value is `limit`.
    ClampSigned {
        from: Place,
        to: Place,
        signed: bool,
        limit: u64,
    },
    Jump(Address),
    /// Back to the start of a loop, for `steps` of those left. No other jump goes back.
    Repeat {
        to: Address,
        steps: u32,
    },
    JumpIfEqual {
        left: Place,
        to: Address,
        value: u64,
    },
    JumpIfNotEqual {
        left: Place,
        to: Address,
        value: u64,
    },
    JumpIfConstant {
        comparison: Comparison,
        left: Place,
        to: Address,
        value: u64,
    },
    JumpIf {
        comparison: Comparison,
        left: Place,
        right: Place,
        to: Address,
    },
    JumpIfSigned {
        comparison: Comparison,
        left: Place,
        right: Place,
        to: Address,
    },
    ReadRegister {
        register: u16,
        index: Place,
        to: Place,
    },
    WriteRegister {
        register: u16,
        index: Place,
        from: Place,
    },
    Count {
        counter: u16,
        index: Place,
    },
    /// Back from an action to where its table leads.
    Return,
    /// The end of a control, or of an expression of a parser or checksum.
    End,
    Table(u32),
    /// An action without a table, too long to stand in place.
    Call {
        to: Address,
        back: Address,
    },
    Wide(u32),
    Extern(u32),
    /// A statement of the sources begins, or a condition is decided: only in the form that is traced.
    Mark(u32),
}

impl Instruction {
    /// This instruction where all addresses lie `by` further.
    pub(crate) fn moved(mut self, by: Address) -> Self {
        match &mut self {
            Self::Jump(to)
            | Self::Repeat { to, .. }
            | Self::JumpIfEqual { to, .. }
            | Self::JumpIfNotEqual { to, .. }
            | Self::JumpIfConstant { to, .. }
            | Self::JumpIf { to, .. }
            | Self::JumpIfSigned { to, .. } => *to += by,
            // An action has its place already.
            Self::Call { back, .. } => *back += by,
            _ => {}
        }
        self
    }

    /// The word an instruction sets, if that is all it does.
    pub(crate) fn pure_result(mut self) -> Option<Place> {
        self.pure_result_mut().copied()
    }

    pub(crate) fn pure_result_mut(&mut self) -> Option<&mut Place> {
        match self {
            Self::Constant { to, .. }
            | Self::Copy { to, .. }
            | Self::Mask { to, .. }
            | Self::Slice { to, .. }
            | Self::Add { to, .. }
            | Self::AddConstant { to, .. }
            | Self::ShiftLeftConstant { to, .. }
            | Self::Or { to, .. }
            | Self::Binary { to, .. }
            | Self::BinaryConstant { to, .. }
            | Self::Not { to, .. }
            | Self::SignExtend { to, .. }
            | Self::ClampUnsigned { to, .. }
            | Self::ClampSigned { to, .. }
            | Self::ReadRegister { to, .. } => Some(to),
            _ => None,
        }
    }

    /// Replaces the words it reads.
    pub(crate) fn read_through(&mut self, mut replace: impl FnMut(Place) -> Place) {
        match self {
            Self::Copy { from, .. }
            | Self::Mask { from, .. }
            | Self::Slice { from, .. }
            | Self::Not { from, .. }
            | Self::SignExtend { from, .. }
            | Self::ClampUnsigned { from, .. }
            | Self::ClampSigned { from, .. } => *from = replace(*from),
            Self::AddConstant { left, .. }
            | Self::ShiftLeftConstant { left, .. }
            | Self::BinaryConstant { left, .. }
            | Self::JumpIfEqual { left, .. }
            | Self::JumpIfNotEqual { left, .. }
            | Self::JumpIfConstant { left, .. } => *left = replace(*left),
            Self::Add { left, right, .. }
            | Self::Or { left, right, .. }
            | Self::Binary { left, right, .. }
            | Self::JumpIf { left, right, .. }
            | Self::JumpIfSigned { left, right, .. } => {
                (*left, *right) = (replace(*left), replace(*right));
            }
            Self::ReadRegister { index, .. } | Self::Count { index, .. } => {
                *index = replace(*index);
            }
            Self::WriteRegister { index, from, .. } => {
                (*index, *from) = (replace(*index), replace(*from));
            }
            Self::Constant { .. }
            | Self::Jump(_)
            | Self::Repeat { .. }
            | Self::Return
            | Self::End
            | Self::Table(_)
            | Self::Call { .. }
            | Self::Wide(_)
            | Self::Extern(_)
            | Self::Mark(_) => {}
        }
    }

    /// Where it may lead besides the next instruction.
    pub(crate) fn addresses(self) -> [Option<Address>; 2] {
        match self {
            Self::Jump(to)
            | Self::Repeat { to, .. }
            | Self::JumpIfEqual { to, .. }
            | Self::JumpIfNotEqual { to, .. }
            | Self::JumpIfConstant { to, .. }
            | Self::JumpIf { to, .. }
            | Self::JumpIfSigned { to, .. } => [Some(to), None],
            Self::Call { to, back } => [Some(to), Some(back)],
            _ => [None, None],
        }
    }

    pub(crate) fn change_addresses(&mut self, change: impl Fn(Address) -> Address) {
        if let Self::Call { to, back } = self {
            (*to, *back) = (change(*to), change(*back));
        } else if let [Some(to), None] = self.addresses() {
            self.lead(change(to));
        }
    }

    pub(crate) fn lead(&mut self, address: Address) {
        match self {
            Self::Jump(to)
            | Self::Repeat { to, .. }
            | Self::JumpIfEqual { to, .. }
            | Self::JumpIfNotEqual { to, .. }
            | Self::JumpIfConstant { to, .. }
            | Self::JumpIf { to, .. }
            | Self::JumpIfSigned { to, .. } => *to = address,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_takes_sixteen_bytes() {
        assert_eq!(size_of::<Instruction>(), 16);
    }

    #[test]
    fn negated_and_exchanged_comparisons() {
        use Comparison::*;
        for comparison in [Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual] {
            for (left, right) in [(1, 1), (1, 2), (2, 1)] {
                let holds = comparison.holds(left, right);
                assert_eq!(comparison.negated().holds(left, right), !holds);
                assert_eq!(comparison.exchanged().holds(right, left), holds);
            }
        }
    }
}
