//! Reading and writing registers.

use super::ast::{Number, NumberKind, Range};
use super::lower::Lowering;
use super::primitives::Primitive;
use crate::error::LoadError;
use crate::program::{ExternOperation, Instruction, Span};

impl Primitive<'_, '_, '_, '_> {
    pub(super) fn read_register(&mut self) -> Result<(), LoadError> {
        let (register, bits) = self
            .names
            .externs
            .register(&self.named(1, "register_array")?)?;
        let index = self.word(2)?;
        let target = self.argument(0)?;
        if bits <= 64 {
            return self
                .context
                .assign_result(&target, bits, self.out, |to, out| {
                    out.push(Instruction::ReadRegister {
                        register,
                        index,
                        to,
                    });
                });
        }
        let to = self.out.temporary(bits.div_ceil(64), &target)?;
        self.out.external(ExternOperation::ReadWideRegister {
            register: register.into(),
            index,
            to,
        });
        let number = wide_number(to, bits);
        self.context.assign(&target, &number, self.out)
    }

    pub(super) fn write_register(&mut self) -> Result<(), LoadError> {
        let (register, bits) = self
            .names
            .externs
            .register(&self.named(0, "register_array")?)?;
        let index = self.word(1)?;
        let at = self.argument(2)?;
        let number = self.context.number(&at)?;
        let mut lowering = Lowering {
            at: &at,
            out: self.out,
        };
        if bits <= 64 {
            let from = lowering.place(&number)?;
            self.out.push(Instruction::WriteRegister {
                register,
                index,
                from,
            });
            return Ok(());
        }
        let from = lowering.out.temporary(bits.div_ceil(64), &at)?;
        lowering.wide_to(&number, from)?;
        self.out.external(ExternOperation::WriteWideRegister {
            register: register.into(),
            index,
            from,
        });
        Ok(())
    }
}

pub(crate) fn wide_number(from: Span, bits: u32) -> Number {
    Number {
        range: Range::unsigned(bits),
        kind: NumberKind::Parameter(from.first.into()),
    }
}
