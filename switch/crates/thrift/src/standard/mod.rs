//! The service `standard`: `tables` and `entries` (as values), `direct` (their
//! counters and meters), `profiles`, `arrays`, `value_sets`, and the switch itself
//! in `management`.

mod arrays;
mod direct;
mod entries;
mod management;
mod profiles;
mod tables;
mod value_sets;

use phb_node::Failure;
use phb_pipeline::{Code, MeterRates};

use crate::call::{Fault, Outcome, Services};
use crate::wire::{Fields, Value};

pub use profiles::DefaultMembers;

/// Codes of InvalidTableOperation.
pub mod table_code {
    pub const TABLE_FULL: i32 = 1;
    pub const INVALID_HANDLE: i32 = 2;
    pub const EXPIRED_HANDLE: i32 = 3;
    pub const COUNTERS_DISABLED: i32 = 4;
    pub const METERS_DISABLED: i32 = 5;
    pub const AGEING_DISABLED: i32 = 6;
    pub const INVALID_TABLE_NAME: i32 = 7;
    pub const INVALID_ACTION_NAME: i32 = 8;
    pub const WRONG_TABLE_TYPE: i32 = 9;
    pub const INVALID_MBR_HANDLE: i32 = 10;
    pub const MBR_STILL_USED: i32 = 11;
    pub const MBR_ALREADY_IN_GRP: i32 = 12;
    pub const MBR_NOT_IN_GRP: i32 = 13;
    pub const INVALID_GRP_HANDLE: i32 = 14;
    pub const GRP_STILL_USED: i32 = 15;
    pub const EMPTY_GRP: i32 = 16;
    pub const DUPLICATE_ENTRY: i32 = 17;
    pub const BAD_MATCH_KEY: i32 = 18;
    pub const DEFAULT_ENTRY_IS_CONST: i32 = 21;
    pub const INVALID_ACTION_PROFILE_NAME: i32 = 23;
    pub const NO_ACTION_PROFILE_SELECTION: i32 = 24;
    pub const IMMUTABLE_TABLE_ENTRIES: i32 = 25;
    pub const BAD_ACTION_DATA: i32 = 26;
    pub const NO_TABLE_KEY: i32 = 27;
    pub const ERROR: i32 = 100;
}

pub fn call(services: &Services, method: &str, arguments: Fields<'_>) -> Outcome {
    let parts = [
        tables::call,
        direct::call,
        profiles::call,
        arrays::call,
        value_sets::call,
        management::call,
    ];
    let outcomes = parts.iter().map(|part| part(services, method, arguments));
    let mut known = outcomes.filter(|outcome| *outcome != Err(Fault::NoMethod));
    known.next().unwrap_or(Err(Fault::NoMethod))
}

/// The code of a change that was refused for what the argument says: `exists`, `missing` and `invalid`.
fn table_fault(failure: &Failure, exists: i32, missing: i32, invalid: i32) -> Fault {
    use table_code::{ERROR, IMMUTABLE_TABLE_ENTRIES, TABLE_FULL};
    match failure {
        Failure::Refused(error) => Fault::Code(match error.code {
            Code::AlreadyExists => exists,
            Code::NotFound => missing,
            Code::InvalidArgument => invalid,
            Code::ResourceExhausted => TABLE_FULL,
            Code::PermissionDenied => IMMUTABLE_TABLE_ENTRIES,
            _ => ERROR,
        }),
        Failure::NoPipeline => Fault::other("the switch has no program"),
        Failure::Aborted => Fault::Code(ERROR),
    }
}

/// Units per microsecond, as bmv2 counts, in units per second, as the pipeline does.
const SECOND_US: f64 = 1e6;

/// Committed and peak rate, each with its burst; `None` if these are not two.
///
/// # Errors
/// `below`, if the peak rate is below the committed one.
fn rates(given: &[Value], below: i32) -> Result<Option<MeterRates>, Fault> {
    let [committed, peak] = given else {
        return Ok(None);
    };
    let rate = |of: &Value| (Fields::of(of).double(1) * SECOND_US).round() as u64;
    let burst = |of: &Value| u64::from(Fields::of(of).int(2) as u32);
    let rates = MeterRates {
        committed_rate: rate(committed),
        committed_burst: burst(committed),
        peak_rate: rate(peak),
        peak_burst: burst(peak),
        ..MeterRates::default()
    };
    if rates.peak_rate < rates.committed_rate {
        return Err(Fault::Code(below));
    }
    Ok(Some(rates))
}

/// Nothing for a meter that is not configured.
fn rates_value(rates: Option<MeterRates>) -> Value {
    let one = |rate: u64, burst: u64| {
        Value::Struct(vec![
            (1, Value::Double(rate as f64 / SECOND_US)),
            (2, Value::I32(i32::try_from(burst).unwrap_or(i32::MAX))),
        ])
    };
    let rates = rates.map(|rates| {
        vec![
            one(rates.committed_rate, rates.committed_burst),
            one(rates.peak_rate, rates.peak_burst),
        ]
    });
    Value::List(rates.unwrap_or_default())
}

/// Packets and bytes.
fn count(given: Fields<'_>) -> (u64, u64) {
    (given.long(2).cast_unsigned(), given.long(1).cast_unsigned())
}

fn count_value((packets, bytes): (u64, u64)) -> Value {
    Value::Struct(vec![
        (1, Value::I64(bytes.cast_signed())),
        (2, Value::I64(packets.cast_signed())),
    ])
}
