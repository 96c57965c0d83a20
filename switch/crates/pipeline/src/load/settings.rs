//! Settings: most actions only give parameters and constants to fields, without instructions. This
//! is the loader's last step: afterwards an action may only be entered at its start.

use std::ops::Range;

use crate::program::{Instruction, Place, Program, Setting, TableShape};

/// Instructions of an action that are looked at; longer ones stay as they are.
const LONGEST: usize = 64;

/// Takes the settings out of all actions, and tells the tables which actions do nothing.
pub(super) fn take_out(program: &mut Program, tables: &mut [TableShape]) {
    split_actions(program);
    for table in tables {
        for taken in &mut table.actions {
            let action = &program.actions[taken.action as usize];
            taken.idle = action.start.is_none() && action.settings.is_empty();
        }
    }
}

fn split_actions(program: &mut Program) {
    let first = program.parameters as usize;
    for number in 0..program.actions.len() {
        let action = &program.actions[number];
        let parameters = first..first + action.words as usize;
        let Some(start) = action.start else {
            program.actions[number].reads_parameters = false;
            continue;
        };
        let body: Vec<Instruction> = program.code[start as usize..]
            .iter()
            .take(LONGEST)
            .take_while(|instruction| !matches!(instruction, Instruction::Return))
            .copied()
            .collect();
        let ends = program.code.get(start as usize + body.len()) == Some(&Instruction::Return);
        if !ends || !body.iter().all(is_plain) {
            continue;
        }
        let (settings, rest) = split(&body, &parameters);
        let reads = rest
            .iter()
            .any(|instruction| reads_any(*instruction, |place| parameters.contains(&place.into())));
        let action = &mut program.actions[number];
        action.reads_parameters = reads;
        if rest.is_empty() {
            action.start = None;
        } else if rest.len() < body.len() {
            // Calls may lead to the whole action, so it stays.
            action.start = Some(program.code.len() as u32);
            program.code.extend(rest);
            program.code.push(Instruction::Return);
        }
        action.settings = settings.into();
    }
}

/// Settings that may as well come before everything else, and the other instructions.
fn split(body: &[Instruction], parameters: &Range<usize>) -> (Vec<Setting>, Vec<Instruction>) {
    let (mut settings, mut rest) = (Vec::new(), Vec::<Instruction>::new());
    for &instruction in body {
        let setting = match instruction {
            Instruction::Constant { to, value } => Some((to, Setting::Constant { to, value })),
            Instruction::Copy { from, to } if parameters.contains(&from.into()) => {
                let parameter = (usize::from(from) - parameters.start) as u16;
                Some((to, Setting::Parameter { parameter, to }))
            }
            _ => None,
        };
        match setting {
            Some((to, setting))
                if may_come_before(to, &rest) && !parameters.contains(&to.into()) =>
            {
                settings.push(setting);
            }
            _ => rest.push(instruction),
        }
    }
    (settings, rest)
}

/// Whether none of the instructions reads or sets a word.
fn may_come_before(word: Place, instructions: &[Instruction]) -> bool {
    instructions.iter().all(|&instruction| {
        instruction.pure_result() != Some(word) && !reads_any(instruction, |place| place == word)
    })
}

fn reads_any(mut instruction: Instruction, which: impl Fn(Place) -> bool) -> bool {
    let mut reads = false;
    instruction.read_through(|place| {
        reads |= which(place);
        place
    });
    reads
}

/// Whether an instruction leads to the next one, and names all words it works on.
fn is_plain(instruction: &Instruction) -> bool {
    instruction.pure_result().is_some()
        || matches!(
            instruction,
            Instruction::WriteRegister { .. } | Instruction::Count { .. }
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Action;

    const PARAMETERS: u32 = 20;

    fn copy(from: Place, to: Place) -> Instruction {
        Instruction::Copy { from, to }
    }

    fn constant(to: Place) -> Instruction {
        Instruction::Constant { to, value: 7 }
    }

    fn parameter(parameter: u16, to: Place) -> Setting {
        Setting::Parameter { parameter, to }
    }

    /// Instructions of an action, its settings, the other instructions, and whether these read parameters.
    type Row<'a> = (&'a [Instruction], &'a [Setting], &'a [Instruction], bool);

    #[test]
    fn settings_and_the_rest() {
        use Instruction::{Return, WriteRegister};
        let write = WriteRegister {
            register: 0,
            index: 1,
            from: 21,
        };
        let setting = Setting::Constant { to: 3, value: 7 };
        let rows: [Row<'_>; 7] = [
            (
                &[copy(20, 1), copy(21, 2), Return],
                &[parameter(0, 1), parameter(1, 2)],
                &[],
                false,
            ),
            (
                &[copy(20, 1), copy(5, 2), constant(3), Return],
                &[parameter(0, 1), setting],
                &[copy(5, 2), Return],
                false,
            ),
            // A word that was read or set before.
            (
                &[copy(3, 2), constant(3), Return],
                &[],
                &[copy(3, 2), constant(3), Return],
                false,
            ),
            (
                &[copy(2, 3), constant(3), Return],
                &[],
                &[copy(2, 3), constant(3), Return],
                false,
            ),
            (
                &[write, constant(3), Return],
                &[setting],
                &[write, Return],
                true,
            ),
            // More than one way, and no end.
            (
                &[
                    Instruction::JumpIfEqual {
                        left: 1,
                        to: 2,
                        value: 0,
                    },
                    constant(3),
                    Return,
                ],
                &[],
                &[
                    Instruction::JumpIfEqual {
                        left: 1,
                        to: 2,
                        value: 0,
                    },
                    constant(3),
                    Return,
                ],
                true,
            ),
            (&[constant(3)], &[], &[constant(3)], true),
        ];
        for (body, settings, rest, reads) in rows {
            let mut program = Program {
                code: body.to_vec(),
                parameters: PARAMETERS,
                actions: vec![Action {
                    name: "set".into(),
                    parameters: Vec::new(),
                    words: 2,
                    start: Some(0),
                    settings: Box::default(),
                    reads_parameters: true,
                }],
                ..Program::default()
            };
            split_actions(&mut program);
            let action = &program.actions[0];
            assert_eq!(*action.settings, *settings, "{body:?}");
            let left = action
                .start
                .map_or(&[][..], |start| &program.code[start as usize..]);
            assert_eq!(left, rest, "{body:?}");
            assert_eq!(action.reads_parameters, reads, "{body:?}");
        }
    }
}
