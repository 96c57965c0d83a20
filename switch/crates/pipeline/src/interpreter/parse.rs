//! Runs the parser: a frame becomes header fields. An error ends parsing; as in bmv2, the packet
//! goes on to ingress with the headers extracted before and `parser_error` set.

use crate::machine::{Machine, Observe};
use crate::packet::Packet;
use crate::program::{Cases, END, MOST_STATES, ParserOperation, ParserState};

impl<O: Observe> Machine<'_, O> {
    /// Fills the packet's words from the frame, beginning with a state: bytes parsed, and the error
    /// that ended it.
    pub(crate) fn parse(
        &mut self,
        packet: &mut Packet,
        frame: &[u8],
        start: u32,
    ) -> (usize, Option<u64>) {
        let mut consumed = 0;
        let error = self.run_states(packet, frame, start, &mut consumed).err();
        self.observer.parsed(consumed, error);
        (consumed, error)
    }

    fn run_states(
        &mut self,
        packet: &mut Packet,
        frame: &[u8],
        start: u32,
        at: &mut usize,
    ) -> Result<(), u64> {
        let program = self.program;
        let mut number = start;
        for _ in 0..MOST_STATES {
            if number == END {
                return Ok(());
            }
            let state = &program.states[number as usize];
            self.observer.state(number);
            for operation in &state.operations {
                match operation {
                    ParserOperation::Copy { from, to } => {
                        let value = packet.word((*from).into());
                        self.observer.set(&mut packet.words, *to, value);
                    }
                    ParserOperation::Code(start) => self.apply(&mut [], packet, *start),
                    operation => self.parse_one(operation, packet, frame, at)?,
                }
            }
            let next = self.select(state, packet);
            self.observer.selected(&state.keys, next.ok(), packet);
            number = next?;
        }
        Err(program.errors.parser_timeout)
    }

    fn select(&self, state: &ParserState, packet: &Packet) -> Result<u32, u64> {
        let next = match (&state.cases, state.keys.as_slice()) {
            (Cases::Exact(cases), [key]) => {
                let value = packet.word((*key).into());
                // A handful of values is found faster one after the other.
                if cases.len() <= 8 {
                    cases.iter().find(|case| case.0 == value)
                } else {
                    let found = cases.binary_search_by_key(&value, |case| case.0);
                    found.ok().and_then(|index| cases.get(index))
                }
                .map(|case| case.1)
            }
            (Cases::Any(cases), keys) => cases
                .get(self.chosen_case(cases, keys, packet))
                .map(|case| case.next),
            (Cases::Exact(_), _) => None,
        };
        next.or(state.otherwise).ok_or(self.program.errors.no_match)
    }
}
