//! Classic pcap files with nanosecond timestamps.

use std::io::{self, Write};

use crate::node::Time;

/// Nanosecond captures; `0xa1b2c3d4` means microseconds (draft-ietf-opsawg-pcap, section 4).
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
/// Frames start at the Ethernet destination address (LINKTYPE_ETHERNET in the registry of link types).
const LINKTYPE_ETHERNET: u32 = 1;
/// Larger than any frame, so that all are whole.
const SNAPSHOT_LENGTH: u32 = 262_144;
const NANOSECONDS_PER_SECOND: Time = 1_000_000_000;

/// Writes a capture. Times count from the start of the run, so captures of equal runs are equal.
#[derive(Debug)]
pub struct PcapWriter<W: Write> {
    sink: W,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the file's header to `sink`.
    pub fn new(mut sink: W) -> io::Result<Self> {
        sink.write_all(&MAGIC_NANOSECONDS.to_le_bytes())?;
        sink.write_all(&2u16.to_le_bytes())?; // format version 2.4
        sink.write_all(&4u16.to_le_bytes())?;
        sink.write_all(&[0; 8])?; // reserved
        sink.write_all(&SNAPSHOT_LENGTH.to_le_bytes())?;
        sink.write_all(&LINKTYPE_ETHERNET.to_le_bytes())?;
        Ok(Self { sink })
    }

    /// Adds a frame seen at `now` (ns since the start of the run). `InvalidInput`: a time after
    /// 2106 or a frame beyond 4 GiB, which the format can't hold.
    pub fn write(&mut self, now: Time, frame: &[u8]) -> io::Result<()> {
        let too_large = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let seconds = u32::try_from(now / NANOSECONDS_PER_SECOND).map_err(too_large)?;
        let nanoseconds = u32::try_from(now % NANOSECONDS_PER_SECOND).map_err(too_large)?;
        let length = u32::try_from(frame.len()).map_err(too_large)?;
        let captured = length.min(SNAPSHOT_LENGTH);
        for word in [seconds, nanoseconds, captured, length] {
            self.sink.write_all(&word.to_le_bytes())?;
        }
        self.sink.write_all(&frame[..captured as usize])
    }

    /// Flushes the sink.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    /// Gives the sink back.
    pub fn into_inner(self) -> W {
        self.sink
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_small_capture() {
        let mut capture = PcapWriter::new(Vec::new()).expect("a vector takes everything");
        capture
            .write(3_000_000_007, &[0xaa, 0xbb])
            .expect("a vector takes everything");
        let bytes = capture.into_inner();
        let header = [
            0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0,
        ];
        assert_eq!(bytes[..24], header);
        assert_eq!(
            bytes[24..],
            [3, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0xaa, 0xbb]
        );
    }

    #[test]
    fn a_time_the_format_cannot_hold_is_refused() {
        let mut capture = PcapWriter::new(Vec::new()).expect("a vector takes everything");
        assert!(capture.write(u64::MAX, &[]).is_err());
    }
}
