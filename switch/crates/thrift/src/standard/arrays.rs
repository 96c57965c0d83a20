//! Counters, meters and registers by index.

use phb_node::{Cells, Failure, SwitchNode, Update};
use phb_pipeline::{Code, MeterRates, Pipeline};
use thrift::protocol::TType;

use super::{count, count_value, rates, rates_value};
use crate::artifact::Artifact;
use crate::call::{Fault, Outcome, Services};
use crate::wire::{Fields, Value, encode};

/// Codes that counters, meters and registers have in common.
const INVALID_NAME: i32 = 1;
const INVALID_INDEX: i32 = 2;

/// Further codes of InvalidMeterOperation.
const BAD_RATES_LIST: i32 = 3;
const INVALID_INFO_RATE_VALUE: i32 = 4;

pub fn call(services: &Services, method: &str, arguments: Fields<'_>) -> Outcome {
    let on = On {
        services,
        name: arguments.text(2),
        arguments,
    };
    match method {
        "bm_counter_read" => on.counter(),
        "bm_counter_reset_all" => on.reset_counter(),
        "bm_counter_write" => on.write_counter(),
        "bm_meter_array_set_rates" => on.set_all_rates(),
        "bm_meter_set_rates" => on.set_rates(),
        "bm_meter_get_rates" => on.rates(),
        "bm_register_read" => on.register(),
        "bm_register_read_all" => on.registers(),
        "bm_register_write" => on.write_register(),
        "bm_register_write_range" => on.write_registers(),
        "bm_register_reset" => on.reset_register(),
        _ => Err(Fault::NoMethod),
    }
}

/// A call on an array.
#[derive(Clone, Copy)]
struct On<'a> {
    services: &'a Services,
    name: &'a str,
    arguments: Fields<'a>,
}

fn code(code: Code) -> Fault {
    Fault::Code(match code {
        Code::NotFound => INVALID_NAME,
        _ => INVALID_INDEX,
    })
}

fn refused(failure: &Failure) -> Fault {
    match failure {
        Failure::Refused(error) => code(error.code),
        Failure::NoPipeline => Fault::other("the switch has no program"),
        Failure::Aborted => Fault::Code(INVALID_INDEX),
    }
}

impl On<'_> {
    /// A negative index is beyond the end.
    fn index(self) -> usize {
        usize::try_from(self.arguments.int(3)).unwrap_or(usize::MAX)
    }

    fn counter(self) -> Outcome {
        self.services.read(|_, pipeline| {
            let read = pipeline.counter_read(self.name, self.index());
            read.map(count_value).map_err(|error| code(error.code))
        })
    }

    fn reset_counter(self) -> Outcome {
        let update = Update::Counters {
            name: self.name.to_owned(),
            values: Cells::Same((0, 0)),
        };
        self.make(update)
    }

    fn write_counter(self) -> Outcome {
        let update = Update::Counter {
            name: self.name.to_owned(),
            index: self.index(),
            value: count(self.arguments.fields(4)),
        };
        self.make(update)
    }

    fn make(self, update: Update) -> Outcome {
        let plan = |_: &Artifact, _: &SwitchNode, _: &Pipeline| Ok(vec![update.clone()]);
        self.services.make(plan, refused)
    }

    fn given_rates(self, place: i16) -> Result<Option<MeterRates>, Fault> {
        match rates(self.arguments.list(place), INVALID_INFO_RATE_VALUE)? {
            Some(rates) => Ok(Some(rates)),
            None => Err(Fault::Code(BAD_RATES_LIST)),
        }
    }

    fn require_meter(self) -> Result<(), Fault> {
        self.services.read(|_, pipeline| {
            let mut meters = pipeline.meters().into_iter();
            match meters.any(|(name, _)| name == self.name) {
                true => Ok(()),
                false => Err(Fault::Code(INVALID_NAME)),
            }
        })
    }

    fn set_all_rates(self) -> Outcome {
        self.require_meter()?;
        let rates = Cells::Same(self.given_rates(3)?);
        self.make(Update::Meters {
            name: self.name.to_owned(),
            rates,
        })
    }

    fn set_rates(self) -> Outcome {
        self.require_meter()?;
        self.make(Update::Meter {
            name: self.name.to_owned(),
            index: self.index(),
            rates: self.given_rates(4)?,
        })
    }

    fn rates(self) -> Outcome {
        self.services.read(|_, pipeline| {
            let rates = pipeline.meter_rates(self.name, self.index());
            rates.map(rates_value).map_err(|error| code(error.code))
        })
    }

    /// The lowest 64 bits.
    fn register(self) -> Outcome {
        self.services.read(|_, pipeline| {
            let read = pipeline.register_read(self.name, self.index());
            let value = read.map_err(|error| code(error.code))?;
            let bytes = value.iter().rev().take(8).rev();
            let number = bytes.fold(0, |number, byte| number << 8 | u64::from(*byte));
            Ok(Value::I64(number.cast_signed()))
        })
    }

    fn registers(self) -> Outcome {
        self.services.read(|_, pipeline| {
            let (size, bits) = shape(pipeline, self.name)?;
            let words = pipeline.register_words(self.name);
            let words = words.map_err(|error| code(error.code))?;
            let mut bytes = Vec::with_capacity(size * 8);
            for cell in words.chunks(bits.div_ceil(64).max(1) as usize) {
                let low = cell.first().copied().unwrap_or_default();
                encode(&Value::I64(low.cast_signed()), &mut bytes);
            }
            Ok(Value::Encoded(TType::I64, bytes.len() / 8, bytes))
        })
    }

    fn write_register(self) -> Outcome {
        let plan = |_: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let (_, bits) = shape(pipeline, self.name)?;
            Ok(vec![Update::Register {
                name: self.name.to_owned(),
                index: self.index(),
                value: within(self.arguments.long(4), bits),
            }])
        };
        self.services.make(plan, refused)
    }

    /// From the first index up to the second, which is not written.
    fn write_registers(self) -> Outcome {
        let plan = |_: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let (size, bits) = shape(pipeline, self.name)?;
            let to = usize::try_from(self.arguments.int(4)).unwrap_or(usize::MAX);
            if to > size || self.index() > to {
                return Err(Fault::Code(INVALID_INDEX));
            }
            let value = within(self.arguments.long(5), bits);
            let write = |index| Update::Register {
                name: self.name.to_owned(),
                index,
                value: value.clone(),
            };
            Ok((self.index()..to).map(write).collect())
        };
        self.services.make(plan, refused)
    }

    fn reset_register(self) -> Outcome {
        self.make(Update::Registers {
            name: self.name.to_owned(),
            values: Cells::Same(vec![0]),
        })
    }
}

/// Cells, and bits of each.
fn shape(pipeline: &Pipeline, name: &str) -> Result<(usize, u32), Fault> {
    let mut registers = pipeline.registers().into_iter();
    let found = registers.find(|(known, ..)| known == name);
    let (_, size, bits) = found.ok_or(Fault::Code(INVALID_NAME))?;
    Ok((size, bits))
}

/// The bits of a number that a register has room for; a negative one is extended to the left.
fn within(value: i64, bits: u32) -> Vec<u8> {
    let sign = if value < 0 { 0xff } else { 0 };
    let length = bits.div_ceil(8).max(1) as usize;
    let mut bytes = vec![sign; length];
    let given = value.to_be_bytes();
    for (byte, given) in bytes.iter_mut().rev().zip(given.iter().rev()) {
        *byte = *given;
    }
    bytes[0] &= 0xff >> (length as u32 * 8 - bits.max(1)).min(7);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_within_registers() {
        for (value, bits, bytes) in [
            (5, 3, &[5][..]),
            (9, 3, &[1]),
            (-1, 3, &[7]),
            (-1, 12, &[0x0f, 0xff]),
            (0x1234, 8, &[0x34]),
            (
                -2,
                72,
                &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe],
            ),
            (1, 72, &[0, 0, 0, 0, 0, 0, 0, 0, 1]),
        ] {
            assert_eq!(within(value, bits), bytes, "{value} in {bits} bits");
        }
    }
}
