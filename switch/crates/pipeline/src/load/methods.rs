//! Externs with methods, as p4c-bm2-psa writes them: instances, and calls named `_Extern_method`.

use super::ast::{Number, NumberKind, Operator, Range, Truth};
use super::expressions::{Expression, HeaderTerm};
use super::externs::ExternNames;
use super::json::{Integer, Json};
use super::primitives::{Next, Primitive, Row};
use super::registers::wide_number;
use crate::error::LoadError;
use crate::program::{
    Algorithm, Calculation, CalculationInput, Comparison, ExternOperation, Instruction, MeterShape,
    Place, Program, Slot, Span, Unit,
};

/// Bits of an `InternetChecksum`.
const CHECKSUM: u32 = 16;

/// An extern instance; `size` accounts for the memory of an array.
pub(super) fn load_instance(
    item: &Json<'_>,
    names: &mut ExternNames,
    program: &mut Program,
    size: &mut impl FnMut(&Json<'_>, u32, usize) -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    let kind = item.get("type")?;
    let name = item.get("name")?.text()?.to_owned();
    match kind.text()? {
        // They are among the counter arrays, too.
        "Counter" | "DirectCounter" => {}
        "Meter" => {
            let cells = attribute(item, "n_meters")?;
            let Some(number) = cells.hexadecimal()?.as_u32() else {
                return cells.refuse("expected a number of meters below 2^32");
            };
            size(&cells, number, MeterShape::CELL)?;
            let unit = Unit::named(&attribute(item, "type")?)?;
            names.add_meter(name.clone(), program.meters.len() as u32);
            program.meters.push(MeterShape {
                name,
                size: number,
                unit,
            });
        }
        "Hash" => {
            let algorithm = Algorithm::load(&attribute(item, "algo")?)?;
            names.hashes.insert(name, algorithm);
        }
        "InternetChecksum" => {
            // Zero when a packet arrives, as all words.
            names.checksums.insert(name, program.words);
            program.words += 1;
        }
        other => return item.refuse(format!("an extern of type {other:?} is not supported")),
    }
    Ok(())
}

fn attribute<'a>(item: &Json<'a>, name: &str) -> Result<Json<'a>, LoadError> {
    let attributes = item.get("attribute_values")?;
    for attribute in attributes.items()? {
        if attribute.get("name")?.text()? == name {
            return attribute.get("value");
        }
    }
    attributes.refuse(format!("no attribute {name:?} here"))
}

/// The methods of externs, as primitives.
pub(super) const METHODS: &[Row] = &[
    ("_Counter_count", 2..=2, |it| it.count_extern()),
    ("_Meter_execute", 3..=3, |it| it.execute_extern()),
    ("_Hash_get_hash", 3..=3, |it| it.get_hash()),
    ("_Hash_get_hash_mod", 5..=5, |it| it.get_hash_mod()),
    ("_InternetChecksum_clear", 1..=1, |it| it.clear_sum()),
    ("_InternetChecksum_add", 2..=2, |it| it.add_to_sum(false)),
    ("_InternetChecksum_subtract", 2..=2, |it| {
        it.add_to_sum(true)
    }),
    ("_InternetChecksum_get", 2..=2, |it| {
        let sum = it.sum()?;
        it.give(complement(short(sum, CHECKSUM)))
    }),
    ("_InternetChecksum_get_state", 2..=2, |it| {
        let sum = it.sum()?;
        it.give(short(sum, CHECKSUM))
    }),
    ("_InternetChecksum_get_verify", 3..=3, |it| it.verify_sum()),
    ("_InternetChecksum_set_state", 2..=2, |it| it.set_sum()),
];

impl<'a> Primitive<'a, '_, '_, '_> {
    fn count_extern(&mut self) -> Result<Next, LoadError> {
        let counter = self.names.externs.counter(&self.named(0, "extern")?)?;
        let index = self.word(1)?;
        self.out.push(Instruction::Count { counter, index });
        Ok(None)
    }

    fn get_hash(&mut self) -> Result<Next, LoadError> {
        let calculation = self.calculation(2)?;
        let target = self.argument(1)?;
        self.context
            .assign_result(&target, 64, self.out, |to, out| {
                out.external(ExternOperation::Calculate { to, calculation });
            })?;
        Ok(None)
    }

    fn get_hash_mod(&mut self) -> Result<Next, LoadError> {
        let (base, modulus) = (self.low_word(2)?, self.low_word(4)?);
        let calculation = self.calculation(3)?;
        self.assign_hash(1, base, calculation, modulus)
    }

    /// The colours of PSA are numbered from red on, green, yellow; those of meters from green on.
    fn execute_extern(&mut self) -> Result<Next, LoadError> {
        let meter = self.names.externs.meter(&self.named(0, "extern")?)?;
        let index = self.word(1)?;
        let target = self.argument(2)?;
        let to = self.out.word(&target)?;
        // An index beyond the end gives green.
        self.out.push(Instruction::Constant { to, value: 0 });
        self.out
            .external(ExternOperation::ExecuteMeter { meter, index, to });
        let constant = |value| Number::constant(Integer::small(value));
        let next = Number::binary(Operator::Add, short(to, 2), constant(1));
        let colour = Number::binary(Operator::Modulo, next, constant(3));
        self.context.assign(&target, &colour, self.out)?;
        Ok(None)
    }

    /// The word in which the 16-bit words of a checksum are added up.
    fn sum(&self) -> Result<Place, LoadError> {
        let name = self.named(0, "extern")?;
        Ok(self.names.externs.checksum(&name)? as Place)
    }

    fn clear_sum(&mut self) -> Result<Next, LoadError> {
        let (to, value) = (self.sum()?, 0);
        self.out.push(Instruction::Constant { to, value });
        Ok(None)
    }

    fn add_to_sum(&mut self, subtract: bool) -> Result<Next, LoadError> {
        let state = self.sum()?;
        let inputs = self.inputs(1)?;
        let bits = self.bits(&inputs);
        if !bits.is_multiple_of(CHECKSUM) {
            let at = self.argument(1)?;
            return at.refuse(format!("{bits} bits; a checksum is over 16-bit words"));
        }
        let calculation = self.add_calculation(Algorithm::Csum16, inputs);
        self.out.external(ExternOperation::AddToSum {
            state,
            calculation,
            subtract,
        });
        Ok(None)
    }

    /// Assigns a number to parameter 1.
    fn give(&mut self, number: Number) -> Result<Next, LoadError> {
        let target = self.argument(1)?;
        self.context.assign(&target, &number, self.out)?;
        Ok(None)
    }

    fn verify_sum(&mut self) -> Result<Next, LoadError> {
        let sum = complement(short(self.sum()?, CHECKSUM));
        let expected = self.context.number(&self.argument(2)?)?;
        let same = Truth::Compare(Comparison::Equal, Box::new((sum, expected)));
        self.give(Number {
            range: Range::unsigned(1),
            kind: NumberKind::FromTruth(Box::new(same)),
        })
    }

    fn set_sum(&mut self) -> Result<Next, LoadError> {
        let to = self.sum()?;
        let from = self.low_word(1)?;
        let mask = u16::MAX.into();
        self.out.push(Instruction::Mask { from, to, mask });
        Ok(None)
    }

    /// The calculation of the hash at parameter 0 over the fields at another.
    fn calculation(&mut self, data: usize) -> Result<u32, LoadError> {
        let algorithm = self.names.externs.hash(&self.named(0, "extern")?)?;
        let mut inputs = self.inputs(data)?;
        let bits = self.bits(&inputs);
        if !bits.is_multiple_of(8) {
            // Bytes are filled from the left.
            let filling = CalculationInput::Constant {
                value: Box::new([0]),
                bits: 8 - bits % 8,
            };
            inputs.insert(0, filling);
        }
        Ok(self.add_calculation(algorithm, inputs))
    }

    fn add_calculation(&mut self, algorithm: Algorithm, inputs: Vec<CalculationInput>) -> u32 {
        let before = self.context.program.calculations.len();
        let number = before + self.additions.calculations.len();
        let calculation = Calculation::new(algorithm, inputs, false);
        self.additions.calculations.push(calculation);
        number as u32
    }

    fn bits(&self, inputs: &[CalculationInput]) -> u32 {
        let layouts = &self.context.program.layouts;
        let bits = inputs.iter().map(|input| match input {
            CalculationInput::Field { bits, .. } | CalculationInput::Constant { bits, .. } => *bits,
            CalculationInput::Header(header) => layouts[header.layout as usize].length * 8,
        });
        bits.sum()
    }

    /// The fields of a list, or a single one, whether their headers are valid or not.
    fn inputs(&mut self, index: usize) -> Result<Vec<CalculationInput>, LoadError> {
        let list = self.named(index, "field_list")?;
        let items = match list.value.is_array() {
            true => list.items()?,
            false => vec![list],
        };
        items.iter().map(|item| self.input(item)).collect()
    }

    fn input(&mut self, item: &Json<'a>) -> Result<CalculationInput, LoadError> {
        let number = match self.context.expression(item)? {
            Expression::Number(number) => number,
            Expression::Header(HeaderTerm::Fixed(header)) => {
                return Ok(CalculationInput::Header(header.span));
            }
            _ => return item.refuse("expected a field, a header or a constant"),
        };
        match number.kind {
            NumberKind::Field(field) if !matches!(field.slot, Slot::Variable { .. }) => {
                Ok(CalculationInput::Field {
                    slot: field.slot,
                    bits: field.bits,
                    signed: field.signed,
                    valid: None,
                })
            }
            NumberKind::Constant(value) => {
                let bits = match item.find("bitwidth") {
                    Some(width) => width.number()?,
                    // p4c writes as many bytes as the constant takes.
                    None => item.get("value")?.text()?.len().saturating_sub(2) as u32 * 4,
                };
                if value.negative || value.bits() > bits || bits > 1 << 16 {
                    return item.refuse(format!("the constant does not fit {bits} bits"));
                }
                let value = value.padded(bits.div_ceil(8) as usize);
                Ok(CalculationInput::Constant { value, bits })
            }
            _ => item.refuse("expected a field, a header or a constant"),
        }
    }
}

/// The value of a word that holds `bits` bits.
fn short(word: Place, bits: u32) -> Number {
    let span = Span {
        first: word,
        words: 1,
    };
    wide_number(span, bits)
}

fn complement(sum: Number) -> Number {
    let ones = Number::constant(Integer::small(u16::MAX.into()));
    Number::binary(Operator::And, sum.inverted(), ones)
}
