//! Artifacts that p4c did not make: they are refused with their place, or they load and then carry packets, with native
//! code as in the interpreter.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use phb_fuzz::Twins;
use serde_json::Value;

fuzz_target!(|data: &[u8]| {
    if let Some(text) = std::str::from_utf8(data)
        .ok()
        .filter(|text| text.starts_with('{'))
    {
        let _ = phb_fuzz::load(text);
        return;
    }
    let _ = damaged(&mut Unstructured::new(data));
});

/// A committed artifact with some of its values replaced, removed, or put elsewhere.
fn damaged(bytes: &mut Unstructured<'_>) -> Result<()> {
    let (_, text) = bytes.choose(phb_fuzz::artifacts())?;
    let mut artifact: Value = serde_json::from_str(text).expect("a committed artifact is JSON");
    let nodes = count(&artifact);
    for _ in 0..bytes.int_in_range(1..=6)? {
        let place = bytes.int_in_range(0..=nodes)?;
        let other = bytes.int_in_range(0..=nodes)?;
        let number: i64 = bytes.arbitrary()?;
        let found = find(&artifact, &mut { other }).cloned();
        let new = match bytes.int_in_range(0..=7u8)? {
            0 => Value::Null,
            1 => Value::from(number),
            2 => Value::from(number & 0xff),
            3 => Value::from(bytes.arbitrary::<bool>()?),
            4 => Value::from(format!("{:#x}", number)),
            5 => Value::from(Vec::<Value>::new()),
            _ => found.unwrap_or(Value::Null),
        };
        if let Some(value) = find_mut(&mut artifact, &mut { place }) {
            *value = new;
        }
    }
    let Ok(pipelines) = phb_fuzz::load(&artifact.to_string()) else {
        return Ok(());
    };
    let mut twins = Twins::new(pipelines);
    let mut now = 0;
    for _ in 0..4 {
        twins.send(bytes, &mut now)?;
    }
    Ok(())
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum::<usize>(),
        Value::Object(values) => values.values().map(count).sum(),
        _ => 0,
    }
}

/// Value number `left` in depth-first order.
fn find<'a>(value: &'a Value, left: &mut usize) -> Option<&'a Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(values) => values.iter().find_map(|value| find(value, left)),
        Value::Object(values) => values.values().find_map(|value| find(value, left)),
        _ => None,
    }
}

fn find_mut<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(values) => values.iter_mut().find_map(|value| find_mut(value, left)),
        Value::Object(values) => values.values_mut().find_map(|value| find_mut(value, left)),
        _ => None,
    }
}
