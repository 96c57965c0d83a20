//! The events of a record, one after the other. What doesn't fit the program ends the reading: records are
//! made by this process, but may be read with the dictionary of another program by mistake.

use super::recorder::Kind;
use super::step::{EntryStep, Matched, MeterStep, Named, Step, TableStep, Value, What};
use crate::machine::{RequestKind, ResultKind};
use crate::program::{Dictionary, END, HeaderName, MarkKind, MatchKind, Slot, columns_of};
use crate::record::Part;
use crate::state::tables::seen::{COUNTED, HAS_MEMBER, HIT, METERED};

const PARTS: [Part; 7] = [
    Part::Port,
    Part::Parser,
    Part::Verify,
    Part::Ingress,
    Part::Queue,
    Part::Egress,
    Part::Deparser,
];

const RESULTS: [(ResultKind, &str); 3] = [
    (ResultKind::Hash, "hash"),
    (ResultKind::Random, "random"),
    (ResultKind::Sum, "sum"),
];

const REQUESTS: [(RequestKind, &str); 8] = [
    (RequestKind::Clone, "clone"),
    (RequestKind::Resubmit, "resubmit"),
    (RequestKind::Recirculate, "recirculate"),
    (RequestKind::Digest, "digest"),
    (RequestKind::Truncate, "truncate"),
    (RequestKind::MarkToDrop, "mark_to_drop"),
    (RequestKind::Log, "log_msg"),
    (RequestKind::Assert, "assert"),
];

pub(super) struct Reader<'a> {
    names: &'a Dictionary,
    words: &'a [u64],
    /// Words that are left.
    rest: &'a [u64],
    part: Part,
    pub(super) time: u64,
    /// The last mark, whose source the steps after it have.
    mark: Option<u32>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(names: &'a Dictionary, words: &'a [u64]) -> Self {
        Self {
            names,
            words,
            rest: words,
            part: Part::Port,
            time: 0,
            mark: None,
        }
    }

    /// Words read so far.
    pub(super) fn at(&self) -> usize {
        self.words.len() - self.rest.len()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, count: usize) -> Option<&'a [u64]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u64> {
        Some(self.take(1)?[0])
    }

    /// The next event; the inner `None` is one that is no step. Ends where words make no sense.
    pub(super) fn next(&mut self) -> Option<Option<Step<'a>>> {
        let step = self.read();
        if step.is_none() {
            self.rest = &[];
        }
        step
    }

    fn read(&mut self) -> Option<Option<Step<'a>>> {
        let first = self.word()?;
        let kind = *Kind::ALL.get((first >> 56) as usize)?;
        let number = first as u32;
        let names = self.names;
        let mut source = None;
        let what = match kind {
            Kind::Part => {
                self.part = *PARTS.get(number as usize)?;
                let time = self.word()?;
                // The deparser has no time of its own: it follows egress.
                if time != 0 {
                    self.time = time;
                }
                self.mark = None;
                return Some(None);
            }
            Kind::Mark => {
                self.mark = Some(number);
                match &names.marks.get(number as usize)?.kind {
                    MarkKind::Statement(primitive) => What::Statement { primitive },
                    MarkKind::Condition(name, holds) => What::Condition {
                        name,
                        holds: *holds,
                    },
                    MarkKind::Call(action) => What::Call {
                        action: &names.actions.get(*action as usize)?.name,
                    },
                }
            }
            Kind::State => {
                self.mark = None;
                What::State {
                    name: names.states.get(number as usize)?,
                }
            }
            Kind::Extracted => {
                let place = self.word()?;
                let header = names.headers.get(number as usize)?;
                What::Extract {
                    header: &header.name,
                    offset: (place >> 32) as u32,
                    length: place as u32,
                    fields: self.fields(number, header)?.1,
                }
            }
            Kind::Selected => {
                self.mark = None;
                let next = self.word()?;
                let keys = self.take(number as usize)?;
                What::Select {
                    keys: (keys.chunks(1))
                        .map(|words| Value { bits: 64, words })
                        .collect(),
                    next: match next {
                        u64::MAX => "reject",
                        next if next == u64::from(END) => "accept",
                        next => names.states.get(next as usize)?,
                    },
                }
            }
            Kind::ParserError => {
                let error = self.word()?;
                let known = names.errors.iter().find(|known| known.0 == error);
                What::ParserError {
                    error: known.map_or("error", |known| &known.1),
                }
            }
            Kind::Checksum => {
                let words = self.take(2)?;
                let field = *names.field_of.get(number as usize)?;
                let field = names.fields.get(field as usize)?;
                let value = |words| Value {
                    bits: field.bits,
                    words,
                };
                What::Checksum {
                    field: &field.name,
                    computed: value(&words[..1]),
                    carried: value(&words[1..]),
                }
            }
            Kind::Table => {
                self.mark = None;
                let table = self.table(number)?;
                source = names.sources.get(table.name);
                What::Table(Box::new(table))
            }
            Kind::Assign => {
                let field = names.fields.get(number as usize)?;
                let value = match field.slot {
                    Slot::Variable { .. } => self.variable()?,
                    slot => Value {
                        bits: field.bits,
                        words: self.take(slot.words()?.1 as usize)?,
                    },
                };
                What::Assign {
                    field: &field.name,
                    value,
                }
            }
            Kind::Header => {
                let header = names.headers.get(number as usize)?;
                let (valid, fields) = self.fields(number, header)?;
                What::Header {
                    name: &header.name,
                    valid,
                    fields: if valid { fields } else { Vec::new() },
                }
            }
            Kind::Register => {
                let (name, bits) = names.registers.get(number as usize)?;
                let (index, flags) = (self.word()?, self.word()?);
                let words = (flags >> 32) as usize;
                let mut value = || {
                    Some(Value {
                        bits: *bits,
                        words: self.take(words)?,
                    })
                };
                What::Register {
                    name,
                    index,
                    before: value()?,
                    after: value()?,
                    written: flags & 1 == 1,
                }
            }
            Kind::Counter => {
                let name = names.counters.get(number as usize)?;
                let (index, counted) = (self.word()?, self.word()?);
                let counts = self.counts()?;
                What::Counter {
                    name,
                    index,
                    counts: (counted == 1).then_some(counts),
                }
            }
            Kind::Meter => {
                let name = names.meters.get(number as usize)?;
                let index = self.word()?;
                What::Meter(self.meter(name, index)?)
            }
            Kind::Result => {
                let (_, name) = RESULTS.get(number as usize)?;
                What::Extern {
                    name,
                    result: Value {
                        bits: 64,
                        words: self.take(1)?,
                    },
                }
            }
            Kind::Request => {
                let (_, name) = REQUESTS.get(number as usize)?;
                What::Request {
                    name,
                    number: self.word()?,
                }
            }
            Kind::Emitted => {
                let place = self.word()?;
                What::Emit {
                    header: &names.headers.get(number as usize)?.name,
                    offset: (place >> 32) as u32,
                    length: place as u32,
                }
            }
        };
        let marked = self.mark.and_then(|mark| names.marks.get(mark as usize));
        Some(Some(Step {
            time: self.time,
            part: self.part,
            source: source.or_else(|| marked.and_then(|mark| mark.source.as_ref())),
            what,
        }))
    }

    /// Whether a header is valid, and its fields.
    fn fields(&mut self, number: u32, header: &'a HeaderName) -> Option<(bool, Vec<Named<'a>>)> {
        let words = self.take(header.words as usize)?;
        let mut variable = match self.names.has_variable(number) {
            true => Some(self.variable()?),
            false => None,
        };
        let mut fields = Vec::new();
        for field in self.names.fields_of(header) {
            let value = match field.slot.words() {
                Some((first, count)) => {
                    let from = first.checked_sub(header.span.word)? as usize;
                    Value {
                        bits: field.bits,
                        words: words.get(from..from + count as usize)?,
                    }
                }
                None => variable.take()?,
            };
            fields.push(Named {
                name: &field.short,
                value,
            });
        }
        Some((words.first() != Some(&0), fields))
    }

    fn variable(&mut self) -> Option<Value<'a>> {
        let bits = u32::try_from(self.word()?).ok()?;
        let words = self.take(bits.div_ceil(64) as usize)?;
        Some(Value { bits, words })
    }

    fn counts(&mut self) -> Option<[(u64, u64); 2]> {
        let words = self.take(4)?;
        Some([(words[0], words[1]), (words[2], words[3])])
    }

    fn meter(&mut self, name: &'a str, index: u64) -> Option<MeterStep<'a>> {
        let words = self.take(6)?;
        let has_rates = words[1] == 1;
        Some(MeterStep {
            name,
            index,
            colour: words[0],
            committed: has_rates.then_some([words[2], words[3]]),
            second: has_rates.then_some([words[4], words[5]]),
        })
    }

    fn table(&mut self, number: u32) -> Option<TableStep<'a>> {
        let names = self.names;
        let shape: &'a _ = names.tables.get(number as usize)?;
        let head = self.word()?;
        let flags = head & 0xffff_ffff;
        let mut key = Vec::new();
        for field in &shape.keys {
            key.push(Named {
                name: &field.name,
                value: Value {
                    bits: field.bits,
                    words: self.take(columns_of(field.bits))?,
                },
            });
        }
        let counts = self.word()?;
        let mut entries = Vec::new();
        for _ in 0..counts >> 32 {
            entries.push(self.entry(number)?);
        }
        let hit = (flags & HIT != 0 && !entries.is_empty()).then(|| entries.remove(0));
        let counter = match flags & COUNTED != 0 {
            true => Some(self.counts()?),
            false => None,
        };
        let meter = match (flags & METERED != 0, &shape.direct_meter) {
            (true, Some(direct)) => Some(self.meter(&direct.name, 0)?),
            _ => None,
        };
        let member = match flags & HAS_MEMBER != 0 {
            true => Some(self.word()? as u32),
            false => None,
        };
        let (outcome, length) = (self.word()?, self.word()?);
        let parameters = self.take(length as usize)?;
        let taken = shape.actions.get((outcome >> 1) as usize);
        let action = match taken {
            Some(taken) => Some(names.actions.get(taken.action as usize)?),
            None => None,
        };
        Some(TableStep {
            name: &shape.name,
            key,
            entries: (head >> 32) as u32,
            hit,
            others: entries,
            others_left: counts as u32,
            member,
            action: action.map(|action| action.name.as_str()),
            parameters: self.parameters(taken.map(|taken| taken.action), parameters)?,
            counter,
            meter,
        })
    }

    fn parameters(&self, action: Option<u32>, words: &'a [u64]) -> Option<Vec<Named<'a>>> {
        let Some(action) = action else {
            return Some(Vec::new());
        };
        let action = self.names.actions.get(action as usize)?;
        let named = action.parameters.iter().map(|parameter| {
            let first = parameter.word as usize;
            let count = parameter.bits.div_ceil(64) as usize;
            Some(Named {
                name: &parameter.name,
                value: Value {
                    bits: parameter.bits,
                    words: words.get(first..first + count)?,
                },
            })
        });
        named.collect()
    }

    fn entry(&mut self, number: u32) -> Option<EntryStep<'a>> {
        let shape: &'a _ = self.names.tables.get(number as usize)?;
        let (first, order) = (self.word()?, self.word()?);
        let prefix = order as u32;
        let priorities = shape.has_priorities();
        let mut matches = Vec::new();
        for field in &shape.keys {
            let columns = columns_of(field.bits);
            let value = Value {
                bits: field.bits,
                words: self.take(columns)?,
            };
            let second = match priorities {
                true => Value {
                    bits: field.bits,
                    words: self.take(columns)?,
                },
                false => value,
            };
            matches.push(match field.kind {
                MatchKind::Lpm if !priorities => Matched::Prefix(value, prefix),
                MatchKind::Exact => Matched::Exact(value),
                MatchKind::Range => Matched::Range(value, second),
                _ => Matched::Ternary(value, second),
            });
        }
        let words = if shape.profile.is_some() {
            0
        } else {
            shape.parameter_words as usize
        };
        let parameters = self.take(words)?;
        let taken = match shape.profile {
            None => shape.actions.get((first & 0xffff_ffff) as usize),
            Some(_) => None,
        };
        let action = taken.and_then(|taken| self.names.actions.get(taken.action as usize));
        Some(EntryStep {
            number: (first >> 32) as u32,
            priority: priorities.then_some((order >> 32) as i32),
            matches,
            action: action.map(|action| action.name.as_str()),
            parameters: self.parameters(taken.map(|taken| taken.action), parameters)?,
        })
    }
}
