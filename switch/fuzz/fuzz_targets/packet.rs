//! Frames of every kind through every committed artifact, with entries that the fuzzer chose: no panic, no endless
//! work, every packet accounted for, and native code does what the interpreter does.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use phb_fuzz::Twins;

fuzz_target!(|data: &[u8]| {
    // Bytes that run out end the run; that is no finding.
    let _ = phb_fuzz::with_any_switch(&mut Unstructured::new(data), run);
});

fn run(twins: &mut Twins, bytes: &mut Unstructured<'_>) -> Result<()> {
    for _ in 0..bytes.int_in_range(0..=16)? {
        let update = phb_fuzz::update(twins.reference(), bytes)?;
        let _ = twins.write(&[update], false);
    }
    let mut now = 0;
    while !bytes.is_empty() {
        twins.send(bytes, &mut now)?;
    }
    Ok(())
}
