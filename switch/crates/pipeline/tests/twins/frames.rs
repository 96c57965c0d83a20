//! Frames that programs may get.

use crate::choices::Choices;

/// A frame: one of those known, whole or damaged, or random bytes, often small ones, which choose among what programs do.
pub fn frame(known: &[(u16, Vec<u8>)], choices: &mut Choices<'_>) -> (u16, Vec<u8>) {
    let port = choices.pick(&[1, 0, 2, 3, 510, 511]);
    if !known.is_empty() && !choices.one_in(3) {
        let (port, mut frame) = choices.pick(known);
        if choices.one_in(2) {
            return (port, frame);
        }
        for _ in 0..choices.up_to(4) {
            let at = choices.up_to(frame.len().saturating_sub(1));
            if let Some(byte) = frame.get_mut(at) {
                *byte = choices.word() as u8;
            }
        }
        if choices.one_in(2) {
            frame.truncate(choices.up_to(frame.len()));
        }
        return (port, frame);
    }
    let length = choices.pick(&[60, 200, 30, 90, 14, 1500, 0]);
    let length = choices.up_to(length);
    let mut frame = vec![0; length];
    if choices.one_in(2) {
        frame = choices.bytes(length);
    } else {
        for _ in 0..choices.up_to(length.min(24)) {
            frame[choices.up_to(length.min(64).saturating_sub(1))] = choices.up_to(15) as u8;
        }
    }
    (port, frame)
}
