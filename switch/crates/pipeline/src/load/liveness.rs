//! Finds results that are not read before they are overwritten.

use crate::program::{Address, Instruction, Place};

/// Words of memory this may take; longer programs keep what they have.
const MOST_MEMORY: usize = 1 << 22;

/// A set of words of a packet.
#[derive(Clone, PartialEq, Eq)]
struct Words(Vec<u64>);

impl Words {
    fn add(&mut self, place: Place) {
        if let Some(bits) = self.0.get_mut(usize::from(place) / 64) {
            *bits |= 1 << (place % 64);
        }
    }

    fn remove(&mut self, place: Place) {
        if let Some(bits) = self.0.get_mut(usize::from(place) / 64) {
            *bits &= !(1 << (place % 64));
        }
    }

    fn has(&self, place: Place) -> bool {
        let bits = self.0.get(usize::from(place) / 64);
        bits.is_some_and(|bits| bits >> (place % 64) & 1 != 0)
    }

    fn join(&mut self, other: &Self) {
        for (bits, more) in self.0.iter_mut().zip(&other.0) {
            *bits |= more;
        }
    }
}

/// Tells for each instruction whether its result is never read. `targets`: where jumps lead;
/// `entries`: where anything else leads; `seen`: words read outside of the instructions.
pub(super) fn dead(
    code: &[Instruction],
    targets: &[bool],
    entries: &[Address],
    seen: impl Fn(Place) -> bool,
) -> Vec<bool> {
    let mut dead = vec![false; code.len()];
    let mut highest = 0;
    for instruction in code {
        let mut instruction = *instruction;
        instruction.read_through(|place| {
            highest = highest.max(place);
            place
        });
        highest = highest.max(instruction.pure_result().unwrap_or(0));
    }
    let length = usize::from(highest) / 64 + 1;
    let meetings = targets.iter().filter(|target| **target).count();
    if meetings * length > MOST_MEMORY {
        return dead;
    }
    // The words read after a table, an action, or the end: `seen`, then also those of any entry.
    let mut later = Words(vec![0; length]);
    (0..=highest)
        .filter(|place| seen(*place))
        .for_each(|place| later.add(place));
    let seen = later.clone();
    let all = Words(vec![u64::MAX; length]);
    let mut before: Vec<Option<Words>> = vec![None; code.len() + 1];
    loop {
        let known = later.clone();
        let mut live = known.clone();
        for (at, instruction) in code.iter().enumerate().rev() {
            let from = |to: Address| match before.get(to as usize) {
                // A jump back: its target comes later in this pass, so all may be read.
                Some(Some(live)) if to as usize > at => live,
                _ if to as usize >= code.len() => &known,
                _ => &all,
            };
            dead[at] = instruction.pure_result().is_some_and(|to| !live.has(to));
            match *instruction {
                Instruction::Jump(to) | Instruction::Repeat { to, .. } => live = from(to).clone(),
                Instruction::Return | Instruction::End | Instruction::Table(_) => {
                    live = known.clone();
                }
                Instruction::Call { back, .. } => {
                    live = known.clone();
                    live.join(from(back));
                }
                Instruction::Wide(_) | Instruction::Extern(_) => live.join(&seen),
                instruction => instruction
                    .addresses()
                    .into_iter()
                    .flatten()
                    .for_each(|to| live.join(from(to))),
            }
            // A word that only a dead instruction reads is dead too.
            if !dead[at] {
                if let Some(to) = instruction.pure_result() {
                    live.remove(to);
                }
                let mut instruction = *instruction;
                instruction.read_through(|place| {
                    live.add(place);
                    place
                });
            }
            if targets[at] {
                before[at] = Some(live.clone());
            }
        }
        for entry in entries {
            if let Some(Some(live)) = before.get(*entry as usize) {
                later.join(live);
            }
        }
        // Control goes on behind a call.
        for instruction in code {
            if let Instruction::Call { to, back } = instruction {
                for at in [to, back] {
                    if let Some(Some(live)) = before.get(*at as usize) {
                        later.join(live);
                    }
                }
            }
        }
        if later == known {
            return dead;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Instruction::{Constant, Copy, Count, End, JumpIfEqual, Return};

    fn constant(to: Place) -> Instruction {
        Constant { to, value: 1 }
    }

    /// Instructions, entries, a word that is seen, and which instructions are dead.
    type Row<'a> = (&'a [Instruction], &'a [Address], Option<Place>, &'a [bool]);

    fn dead_of(code: &[Instruction], entries: &[Address], seen: Option<Place>) -> Vec<bool> {
        let mut targets = vec![false; code.len()];
        let led = code.iter().flat_map(|instruction| instruction.addresses());
        for to in led.flatten().chain(entries.iter().copied()) {
            targets[to as usize] = true;
        }
        dead(code, &targets, entries, |place| Some(place) == seen)
    }

    #[test]
    fn overwritten_or_unread_on_every_way() {
        let count = Count {
            counter: 0,
            index: 1,
        };
        let skip = JumpIfEqual {
            left: 2,
            to: 3,
            value: 0,
        };
        let copy = Copy { from: 1, to: 3 };
        let rows: [Row<'_>; 5] = [
            (
                &[constant(1), constant(1), count, End],
                &[0],
                None,
                &[true, false, false, false],
            ),
            // Read on one of two ways.
            (
                &[constant(1), skip, count, End],
                &[0],
                None,
                &[false, false, false, false],
            ),
            (
                &[constant(1), skip, constant(1), count, End],
                &[0],
                None,
                &[false, false, false, false, false],
            ),
            // A word that only a dead instruction reads.
            (&[constant(1), copy, End], &[0], None, &[true, true, false]),
            // Read where something else than an instruction leads to, or by something else.
            (
                &[constant(1), Return, count, End],
                &[0, 2],
                None,
                &[false, false, false, false],
            ),
        ];
        for (code, entries, seen, expected) in rows {
            assert_eq!(dead_of(code, entries, seen), expected, "{code:?}");
        }
        assert_eq!(dead_of(&[constant(1), End], &[0], Some(1)), [false, false]);
    }
}
