//! Frames on an Ethernet.

/// Preamble and start frame delimiter (IEEE 802.3, clause 3.1.1).
const PREAMBLE: u64 = 8;
/// Frame check sequence (IEEE 802.3, clause 3.2.9).
const FRAME_CHECK_SEQUENCE: u64 = 4;
/// 96 bit times between frames (IEEE 802.3, clause 4.4.2).
const INTER_FRAME_GAP: u64 = 12;
/// Shortest frame, with frame check sequence (IEEE 802.3, clause 4.4.2); shorter ones are padded.
const MIN_FRAME: u64 = 64;

/// Bytes on the wire of a frame of `length` bytes (header and payload).
pub(crate) fn wire_bytes(length: usize) -> u64 {
    (length as u64 + FRAME_CHECK_SEQUENCE).max(MIN_FRAME) + PREAMBLE + INTER_FRAME_GAP
}
