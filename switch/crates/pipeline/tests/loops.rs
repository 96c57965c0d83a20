//! Loops in actions: jumps back, as p4c makes them of `for`, in the action `exchange` of programs/state.p4.

use crate::common::{self, options, run};
use phb_pipeline::{Pipeline, STEPS, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};

fn artifact(primitives: Value) -> Value {
    let mut artifact = common::artifact("state");
    let actions = artifact["actions"].as_array_mut().unwrap();
    let exchange = actions
        .iter_mut()
        .find(|action| action["name"] == "IngressControl.exchange");
    exchange.unwrap()["primitives"] = primitives;
    artifact
}

fn pipeline(primitives: Value) -> Pipeline {
    Pipeline::load(&artifact(primitives).to_string(), options()).unwrap()
}

fn request(index: u32) -> Vec<u8> {
    let mut frame = vec![0];
    frame.extend_from_slice(&index.to_be_bytes());
    frame.extend_from_slice(&[0; 13]);
    frame
}

/// The value of `answer.hash` after the program.
fn ask(pipeline: &mut Pipeline, index: u32) -> Result<u32, Verdict> {
    run(pipeline, 0, 1, &request(index))
        .map(|(_, out)| u32::from_be_bytes(out[13..17].try_into().unwrap()))
}

fn field(header: &str, name: &str) -> Value {
    json!({"type": "field", "value": [header, name]})
}

fn number(value: u32) -> Value {
    json!({"type": "hexstr", "value": format!("{value:#x}")})
}

fn binary(op: &str, left: Value, right: Value) -> Value {
    json!({"type": "expression", "value": {"op": op, "left": left, "right": right}})
}

fn cut(value: Value) -> Value {
    binary("&", value, number(u32::MAX))
}

fn primitive(op: &str, parameters: &[Value]) -> Value {
    json!({"op": op, "parameters": parameters})
}

/// `hash = 0; while (index != 0) { hash += index; index -= 1; more }`.
fn sum(more: &[Value]) -> Value {
    let (hash, index) = (field("answer", "hash"), field("request", "index"));
    let goes_on = binary("!=", index.clone(), number(0));
    let end = number(5 + more.len() as u32);
    let add = cut(binary("+", hash.clone(), index.clone()));
    let subtract = cut(binary("-", index.clone(), number(1)));
    let mut body = vec![
        primitive("assign", &[hash.clone(), number(0)]),
        primitive("_jump_if_zero", &[goes_on, end]),
        primitive("assign", &[hash, add]),
        primitive("assign", &[index, subtract]),
    ];
    body.extend_from_slice(more);
    body.push(primitive("_jump", &[number(1)]));
    json!(body)
}

/// `hash = 7; do { index -= 1; hash += 1 } while (index > 0)`, by a condition that jumps back; what is known of `hash`
/// before the loop is not known in it.
fn count() -> Value {
    let (hash, index) = (field("answer", "hash"), field("request", "index"));
    let again = binary("==", index.clone(), number(0));
    json!([
        primitive("assign", &[hash.clone(), number(7)]),
        primitive(
            "assign",
            &[index.clone(), cut(binary("-", index, number(1)))]
        ),
        primitive("assign", &[hash.clone(), cut(binary("+", hash, number(1)))]),
        primitive("_jump_if_zero", &[again, number(1)]),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn a_loop_goes_round_as_often_as_it_says(rounds in 0u32..10_000) {
        let expected = (1..=rounds).fold(0u32, u32::wrapping_add);
        prop_assert_eq!(ask(&mut pipeline(sum(&[])), rounds), Ok(expected));
        let rounds = rounds + 1;
        prop_assert_eq!(ask(&mut pipeline(count()), rounds), Ok(7 + rounds));
    }
}

#[test]
fn a_loop_without_an_end_ends_with_its_packet() {
    let mut pipeline = pipeline(sum(&[]));
    assert_eq!(ask(&mut pipeline, STEPS), Err(Verdict::Exhausted));
    // The next one has all its steps again.
    assert_eq!(ask(&mut pipeline, 1000), Ok(500_500));
    assert_eq!(ask(&mut pipeline, u32::MAX), Err(Verdict::Exhausted));
    assert_eq!(ask(&mut pipeline, 3), Ok(6));
}

#[test]
fn an_action_may_lead_to_itself() {
    let mut pipeline = pipeline(json!([primitive("_jump", &[number(0)])]));
    assert_eq!(ask(&mut pipeline, 0), Err(Verdict::Exhausted));
}

/// A round of a loop takes the more steps the longer it takes, so that no loop holds the switch up.
#[test]
fn what_takes_long_takes_many_steps() {
    let rounds = STEPS / 16;
    assert_ne!(
        ask(&mut pipeline(sum(&[])), rounds),
        Err(Verdict::Exhausted)
    );
    let calculation = json!({"type": "calculation", "value": "calc"});
    let hash = primitive(
        "modify_field_with_hash_based_offset",
        &[field("answer", "length"), number(0), calculation, number(9)],
    );
    let mut pipeline = pipeline(sum(&[hash]));
    assert_eq!(ask(&mut pipeline, rounds), Err(Verdict::Exhausted));
}

#[test]
fn a_jump_out_of_the_action_is_refused() {
    let artifact = artifact(json!([primitive("_jump", &[number(2)])]));
    let refused = Pipeline::load(&artifact.to_string(), options()).unwrap_err();
    assert!(
        refused
            .to_string()
            .ends_with("jumps stay within the action"),
        "{refused}"
    );
}
