//! Counters, registers, meters, and the calculations behind hashes and checksums.

use std::collections::HashMap;

use super::assemble::{Assembler, Pool, append};
use super::ast::{Number, NumberKind, Range, Truth};
use super::expressions::Context;
use super::fields::Field;
use super::headers::Headers;
use super::json::Json;
use super::lower::Lowering;
use super::methods::load_instance;
use crate::error::LoadError;
use crate::program::{
    Algorithm, Calculation, CalculationInput, Checksum, CounterShape, Crc, DirectMeter, Guard,
    Instruction, MeterShape, Program, RegisterShape, Slot, Unit, WordField,
};

/// The widest cell of a register, in bits.
const WIDEST_REGISTER: u32 = 1 << 16;

fn number_of(length: usize, item: &Json<'_>) -> Result<u16, LoadError> {
    match u16::try_from(length) {
        Ok(number) => Ok(number),
        Err(_) => item.refuse("more than 65536 arrays of one kind"),
    }
}

/// Bytes of memory for all arrays of one artifact: 16 million counters.
const MOST_MEMORY: u64 = 1 << 28;

#[derive(Default)]
pub(crate) struct ExternNames {
    counters: HashMap<String, u16>,
    registers: HashMap<String, (u16, u32)>,
    meters: HashMap<String, u32>,
    calculations: HashMap<String, u32>,
    /// Tables that own a direct counter array, and its name.
    direct_counters: HashMap<String, String>,
    direct_meters: HashMap<String, DirectMeter>,
    /// Tables that own a direct meter array, and its name.
    metered: HashMap<String, String>,
    pub(super) hashes: HashMap<String, Algorithm>,
    /// The words of checksums of the Internet that are added up.
    pub(super) checksums: HashMap<String, u32>,
}

fn resolve<T: Copy>(
    names: &HashMap<String, T>,
    name: &Json<'_>,
    what: &str,
) -> Result<T, LoadError> {
    match names.get(name.text()?) {
        Some(found) => Ok(*found),
        None => name.refuse(format!("no {what} is called {:?}", name.text()?)),
    }
}

impl ExternNames {
    pub(crate) fn counter(&self, name: &Json<'_>) -> Result<u16, LoadError> {
        resolve(&self.counters, name, "indirect counter")
    }

    /// Index and width in bits.
    pub(crate) fn register(&self, name: &Json<'_>) -> Result<(u16, u32), LoadError> {
        resolve(&self.registers, name, "register")
    }

    pub(crate) fn meter(&self, name: &Json<'_>) -> Result<u32, LoadError> {
        resolve(&self.meters, name, "indirect meter")
    }

    pub(crate) fn calculation(&self, name: &Json<'_>) -> Result<u32, LoadError> {
        resolve(&self.calculations, name, "calculation")
    }

    pub(super) fn add_meter(&mut self, name: String, meter: u32) {
        self.meters.insert(name, meter);
    }

    pub(crate) fn hash(&self, name: &Json<'_>) -> Result<Algorithm, LoadError> {
        resolve(&self.hashes, name, "hash")
    }

    /// The word with the sum of a checksum.
    pub(crate) fn checksum(&self, name: &Json<'_>) -> Result<u32, LoadError> {
        resolve(&self.checksums, name, "checksum")
    }

    pub(crate) fn direct_counter(&self, table: &str) -> Option<&str> {
        self.direct_counters.get(table).map(String::as_str)
    }

    /// The direct meters of a table, which names them, or which they name.
    pub(crate) fn direct_meter(
        &self,
        table: &str,
        item: &Json<'_>,
    ) -> Result<Option<DirectMeter>, LoadError> {
        let named = match (item.find("direct_meters"), self.metered.get(table)) {
            (Some(named), _) => match self.direct_meters.get(named.text()?) {
                Some(meter) => Some(meter),
                None => {
                    return named.refuse(format!("no direct meter is called {:?}", named.text()?));
                }
            },
            (None, Some(name)) => self.direct_meters.get(name),
            (None, None) => None,
        };
        Ok(named.cloned())
    }

    pub(crate) fn load(
        root: &Json<'_>,
        headers: &Headers,
        program: &mut Program,
    ) -> Result<Self, LoadError> {
        let mut names = Self::default();
        let psa = program.psa.is_some();
        let mut memory = 0;
        let mut take = |at: &Json<'_>, size: u32, cell: usize| -> Result<(), LoadError> {
            memory += u64::from(size) * cell as u64;
            if memory > MOST_MEMORY {
                return at.refuse(format!(
                    "this program's counters, registers and meters take more than {MOST_MEMORY} bytes"
                ));
            }
            Ok(())
        };
        let mut size = |item: &Json<'_>, cell: usize| -> Result<u32, LoadError> {
            let json = item.get("size")?;
            let size = json.number()?;
            take(&json, size, cell)?;
            Ok(size)
        };
        let direct = |item: &Json<'_>| {
            item.find("is_direct")
                .map_or(Ok(false), |flag| flag.boolean())
        };
        for item in root.list("counter_arrays")? {
            let name = item.get("name")?.text()?.to_owned();
            if direct(&item)? {
                if let Some(table) = item.find("binding") {
                    names.direct_counters.insert(table.text()?.to_owned(), name);
                }
            } else {
                names
                    .counters
                    .insert(name.clone(), number_of(program.counters.len(), &item)?);
                let size = size(&item, CounterShape::CELL)?;
                program.counters.push(CounterShape { name, size });
            }
        }
        for item in root.list("register_arrays")? {
            let name = item.get("name")?.text()?.to_owned();
            let width = item.get("bitwidth")?;
            let bits = width.number()?;
            if bits == 0 || bits > WIDEST_REGISTER {
                return width.refuse(format!(
                    "a register of {bits} bits; 1 to {WIDEST_REGISTER} are supported"
                ));
            }
            let number = number_of(program.registers.len(), &item)?;
            names.registers.insert(name.clone(), (number, bits));
            let size = size(&item, RegisterShape::cell(bits))?;
            program.registers.push(RegisterShape { name, size, bits });
        }
        for item in root.list("meter_arrays")? {
            let name = item.get("name")?.text()?.to_owned();
            let unit = Unit::named(&item.get("type")?)?;
            let rates = item.get("rate_count")?;
            if rates.number()? != 2 {
                return rates.refuse("only meters of two rates are supported");
            }
            if direct(&item)? {
                let place = item.get("result_target")?;
                let field = headers.field(&place)?;
                let Slot::Word { word } = field.slot else {
                    return place.refuse("a field of more than 64 bits for a colour");
                };
                let fit = field.fit();
                let target = WordField { word, fit };
                if let Some(table) = item.find("binding") {
                    names.metered.insert(table.text()?.to_owned(), name.clone());
                }
                let meter = DirectMeter {
                    name: name.clone(),
                    unit,
                    target,
                    colours: if psa { [1, 2, 0] } else { [0, 1, 2] },
                };
                names.direct_meters.insert(name, meter);
                continue;
            }
            names
                .meters
                .insert(name.clone(), program.meters.len() as u32);
            let size = size(&item, MeterShape::CELL)?;
            program.meters.push(MeterShape { name, size, unit });
        }
        for item in root.list("extern_instances")? {
            load_instance(&item, &mut names, program, &mut take)?;
        }
        for item in root.list("calculations")? {
            let name = item.get("name")?.text()?.to_owned();
            if Crc::custom(item.get("algo")?.text()?).is_some() {
                let number = program.calculations.len() as u32;
                program.custom_crcs.push((name.clone(), number));
            }
            names
                .calculations
                .insert(name, program.calculations.len() as u32);
            program.calculations.push(load_calculation(&item, headers)?);
        }
        Ok(names)
    }
}

fn load_calculation(item: &Json<'_>, headers: &Headers) -> Result<Calculation, LoadError> {
    let algorithm = Algorithm::load(&item.get("algo")?)?;
    let (mut found, mut payload) = (Vec::new(), false);
    let inputs = item.get("input")?.items()?;
    for (index, input) in inputs.iter().enumerate() {
        let kind = input.get("type")?;
        match kind.text()? {
            "field" => {
                found.push(field_input(headers.field(&input.get("value")?)?));
            }
            "hexstr" => {
                let bits = input.get("bitwidth")?.number()?;
                let value = input.get("value")?.hexadecimal()?;
                if value.negative || value.bits() > bits || bits > 65_536 {
                    return input.refuse(format!("the constant does not fit {bits} bits"));
                }
                let value = value.padded(bits.div_ceil(8) as usize);
                found.push(CalculationInput::Constant { value, bits });
            }
            "header" => {
                let instance = headers.instance(&input.get("value")?)?;
                found.push(CalculationInput::Header(instance.span));
            }
            "payload" if index + 1 == inputs.len() => payload = true,
            other => {
                return kind.refuse(format!(
                    "{other:?} is not supported as input number {index}"
                ));
            }
        }
    }
    Ok(Calculation::new(algorithm, found, payload))
}

impl Algorithm {
    pub(super) fn load(name: &Json<'_>) -> Result<Self, LoadError> {
        match Self::named(name.text()?) {
            Some(algorithm) => Ok(algorithm),
            None => name.refuse(format!(
                "hash algorithm {:?} is not supported; {}",
                name.text()?,
                Self::NAMES
            )),
        }
    }
}

impl Unit {
    pub(super) fn named(name: &Json<'_>) -> Result<Self, LoadError> {
        match name.text()? {
            "bytes" => Ok(Self::Bytes),
            "packets" => Ok(Self::Packets),
            other => name.refuse(format!("a meter of {other:?}; expected bytes or packets")),
        }
    }
}

pub(crate) fn load_checksums(
    root: &Json<'_>,
    headers: &Headers,
    names: &ExternNames,
    pool: &mut Pool,
    program: &mut Program,
) -> Result<(), LoadError> {
    for item in root.list("checksums")? {
        let kind = item.get("type")?;
        let place = item.get("target")?;
        let field = headers.field(&place)?;
        let Slot::Word { word } = field.slot else {
            return place.refuse("a checksum of more than 64 bits");
        };
        let condition = match item.find("if_cond") {
            Some(condition) => guard(&condition, headers, pool, program)?,
            None => None,
        };
        let calculation = match kind.text()? {
            "generic" => names.calculation(&item.get("calculation")?)?,
            "ipv4" => {
                let number = program.calculations.len() as u32;
                program.calculations.push(of_ipv4(&place, headers)?);
                number
            }
            other => {
                return kind.refuse(format!(
                    "a checksum of type {other:?}; expected generic or ipv4"
                ));
            }
        };
        let checksum = Checksum {
            calculation,
            target: WordField {
                word,
                fit: field.fit(),
            },
            valid: field.valid,
            condition,
        };
        let wanted = |key: &str| item.find(key).map_or(Ok(true), |flag| flag.boolean());
        if wanted("verify")? {
            program.verified.push(checksum.clone());
        }
        if wanted("update")? {
            program.updated.push(checksum);
        }
    }
    Ok(())
}

/// The sum over the header of a checksum, which is its 16 bits at byte 10 as in IPv4.
fn of_ipv4(place: &Json<'_>, headers: &Headers) -> Result<Calculation, LoadError> {
    let [header, _] = place.tuple()?;
    let target = headers.field(place)?;
    let mut inputs = Vec::new();
    let (mut offset, mut found) = (0, None);
    for field in headers.fields(headers.instance(&header)?) {
        if field == target {
            found = Some((offset, field.bits));
        } else {
            inputs.push(field_input(field));
        }
        offset += field.bits;
    }
    if found != Some((80, 16)) {
        return place.refuse("a checksum of type \"ipv4\" is 16 bits at byte 10 of its header");
    }
    Ok(Calculation::new(Algorithm::Csum16, inputs, false))
}

fn field_input(field: Field) -> CalculationInput {
    CalculationInput::Field {
        slot: field.slot,
        bits: field.bits,
        signed: field.signed,
        valid: field.valid,
    }
}

/// A condition, without instructions if it is only a word; `None` if it always holds.
fn guard(
    json: &Json<'_>,
    headers: &Headers,
    pool: &mut Pool,
    program: &mut Program,
) -> Result<Option<Guard>, LoadError> {
    let context = Context {
        headers,
        program,
        parameters: &[],
        parameters_at: 0,
    };
    let truth = context.truth(json)?;
    if let Truth::Constant(true) = truth {
        return Ok(None);
    }
    let range = Range::unsigned(1);
    let kind = NumberKind::FromTruth(Box::new(truth));
    let mut out = Assembler::new(pool);
    let word = Lowering {
        at: json,
        out: &mut out,
    }
    .place(&Number { range, kind })?;
    let mut code = out.code;
    if code.is_empty() {
        return Ok(Some(Guard { start: None, word }));
    }
    code.push(Instruction::End);
    let start = Some(append(&mut program.code, &code, json)?);
    Ok(Some(Guard { start, word }))
}
