//! Frames of every kind through every committed artifact, with entries that the fuzzer chose: no panic, no endless
//! work, and every packet accounted for.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use phb_node::SwitchNode;

fuzz_target!(|data: &[u8]| {
    // Bytes that run out end the run; that is no finding.
    let _ = phb_fuzz::with_any_switch(&mut Unstructured::new(data), run);
});

fn run(switch: &mut SwitchNode, bytes: &mut Unstructured<'_>) -> Result<()> {
    for _ in 0..bytes.int_in_range(0..=16)? {
        let update = phb_fuzz::update(switch, bytes)?;
        let _ = switch.write(&[update], false);
    }
    let mut now = 0;
    while !bytes.is_empty() {
        phb_fuzz::send(switch, bytes, &mut now)?;
    }
    Ok(())
}
