//! Value numbering: which words hold the same value, so that nothing is computed twice.

use std::collections::{BTreeMap, HashMap};

use crate::program::{Instruction, Place};

/// Number of a value, valid along one path.
type Value = u16;

#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    of: BTreeMap<Place, Value>,
    /// Instructions on values, setting word 0, and their results.
    known: HashMap<Instruction, Value>,
    next: Value,
}

/// The most values along one path, so that the loader's time is linear in the program's length.
const MOST: Value = 1024;

impl Values {
    pub(super) fn clear(&mut self) {
        self.of.clear();
        self.known.clear();
        self.next = 0;
    }

    /// Makes an instruction a copy if another word holds its result; notes the word that it sets.
    pub(super) fn pass(&mut self, instruction: Instruction) -> Instruction {
        if let Instruction::WriteRegister { register, .. } = instruction {
            self.known.retain(|known, _| !matches!(known, Instruction::ReadRegister { register: read, .. } if *read == register));
        }
        let Some(to) = instruction.pure_result() else {
            return instruction;
        };
        if self.next >= MOST {
            self.clear();
        }
        if let Instruction::Copy { from, .. } = instruction {
            let value = self.value(from);
            self.of.insert(to, value);
            return instruction;
        }
        let mut expression = instruction;
        expression.read_through(|place| self.value(place));
        if let Some(result) = expression.pure_result_mut() {
            *result = 0;
        }
        if let Instruction::Add { left, right, .. } | Instruction::Or { left, right, .. } =
            &mut expression
            && left > right
        {
            std::mem::swap(left, right);
        }
        let Some(value) = self.known.get(&expression).copied() else {
            let value = self.new_value();
            self.known.insert(expression, value);
            self.of.insert(to, value);
            return instruction;
        };
        let holder = self.of.iter().find(|(_, held)| **held == value);
        let holder = holder.map(|(place, _)| *place);
        self.of.insert(to, value);
        match (holder, instruction) {
            // A constant costs no more than a copy.
            (Some(from), instruction) if !matches!(instruction, Instruction::Constant { .. }) => {
                Instruction::Copy { from, to }
            }
            _ => instruction,
        }
    }

    fn value(&mut self, place: Place) -> Value {
        match self.of.get(&place) {
            Some(value) => *value,
            None => {
                let value = self.new_value();
                self.of.insert(place, value);
                value
            }
        }
    }

    fn new_value(&mut self) -> Value {
        self.next += 1;
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(left: Place, right: Place, to: Place) -> Instruction {
        Instruction::Add {
            left,
            right,
            to,
            cut: 0,
        }
    }

    fn read(to: Place) -> Instruction {
        Instruction::ReadRegister {
            register: 1,
            index: 9,
            to,
        }
    }

    #[test]
    fn a_result_that_a_word_holds_is_copied() {
        let mut values = Values::default();
        assert_eq!(values.pass(add(1, 2, 3)), add(1, 2, 3));
        let copy = |from, to| Instruction::Copy { from, to };
        assert_eq!(values.pass(add(2, 1, 4)), copy(3, 4));
        // The word that held it first has another value now.
        assert_eq!(values.pass(add(3, 3, 3)), add(3, 3, 3));
        assert_eq!(values.pass(add(1, 2, 5)), copy(4, 5));
        // An operand has changed.
        assert_eq!(values.pass(add(1, 1, 1)), add(1, 1, 1));
        assert_eq!(values.pass(add(1, 2, 6)), add(1, 2, 6));
    }

    #[test]
    fn a_register_is_read_again_after_a_write() {
        let mut values = Values::default();
        let write = |register| Instruction::WriteRegister {
            register,
            index: 7,
            from: 8,
        };
        assert_eq!(values.pass(read(1)), read(1));
        values.pass(write(2));
        assert_eq!(values.pass(read(2)), Instruction::Copy { from: 1, to: 2 });
        values.pass(write(1));
        assert_eq!(values.pass(read(3)), read(3));
    }
}
