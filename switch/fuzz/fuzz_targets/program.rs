//! Programs that are made up of the fuzzer's bytes, with packets and writes: native code does what the interpreter does.
#![no_main]

#[path = "../../crates/pipeline/tests/twins/choices.rs"]
mod choices;
#[path = "../../crates/pipeline/tests/twins/frames.rs"]
mod frames;
#[path = "../../crates/pipeline/tests/twins/generate.rs"]
mod generate;
#[expect(dead_code, reason = "the test of this name looks closer")]
#[path = "../../crates/pipeline/tests/twins/pair.rs"]
mod pair;
#[path = "../../crates/pipeline/tests/twins/replay.rs"]
mod replay;
#[path = "../../crates/pipeline/tests/twins/state.rs"]
mod state;
#[path = "../../crates/pipeline/tests/twins/writes.rs"]
mod writes;

use libfuzzer_sys::fuzz_target;

use choices::Choices;
use pair::{Loaded, Pair};

fuzz_target!(|data: &[u8]| {
    let (program, others) = data.split_at(data.len() / 2);
    let artifact = generate::artifact(&mut Choices::new(program)).to_string();
    if let Loaded::Pair(mut pair) = Pair::load(&artifact) {
        let mut choices = Choices::new(others);
        while choices.are_left() {
            pair.write(&mut choices);
            let (port, frame) = frames::frame(&[], &mut choices);
            pair.packet(port, &frame, &mut choices);
        }
        pair.compare_state(true);
    }
});
