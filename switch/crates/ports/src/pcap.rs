//! Reads classic pcap files (draft-ietf-opsawg-pcap), frame by frame, in one buffer.

use std::io::{self, Read};

use crate::port::{PortError, Timestamp};
use crate::system;

/// Magic numbers.
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;
const PCAPNG: u32 = 0x0a0d_0d0a;

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
/// Longer than any frame: a larger length is wrong.
const LONGEST: usize = 1 << 18;

const LINKTYPE_ETHERNET: u32 = 1;
/// Link type of bmv2's `--use-files` output, whose frames are Ethernet's.
const LINKTYPE_NULL: u32 = 0;

/// A capture file, read from its beginning to its end.
#[derive(Debug)]
pub struct PcapReader<R> {
    source: R,
    name: String,
    big_endian: bool,
    /// Nanoseconds per unit of a time stamp's fraction.
    unit: u64,
    frame: Vec<u8>,
    /// Frames read, and place of the next record.
    number: u64,
    at: u64,
}

impl<R: Read> PcapReader<R> {
    /// Reads the file's header, which must be of Ethernet frames. Errors name the file `name`.
    pub fn new(mut source: R, name: String) -> Result<Self, PortError> {
        let error = |what: String| PortError(format!("{name}: {what}"));
        let mut header = [0; FILE_HEADER];
        let length = fill(&mut source, &mut header).map_err(|e| error(system::reason(&e)))?;
        let magic = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let (big_endian, magic) = match magic {
            MICROSECONDS | NANOSECONDS => (false, magic),
            other => (true, other.swap_bytes()),
        };
        let unit = match magic {
            MICROSECONDS if length == FILE_HEADER => 1000,
            NANOSECONDS if length == FILE_HEADER => 1,
            PCAPNG => {
                return Err(error(
                    "a pcapng file, expected pcap (editcap -F pcap converts it)".to_owned(),
                ));
            }
            _ => return Err(error("no capture file (pcap)".to_owned())),
        };
        // The upper bits are the length of frame check sequences, if any.
        let link_type = word(&header, 20, big_endian) & 0xffff;
        if link_type != LINKTYPE_ETHERNET && link_type != LINKTYPE_NULL {
            return Err(error(format!(
                "link type {link_type}, expected {LINKTYPE_ETHERNET} (Ethernet)"
            )));
        }
        Ok(Self {
            source,
            name,
            big_endian,
            unit,
            frame: Vec::new(),
            number: 0,
            at: FILE_HEADER as u64,
        })
    }

    /// Reads the next frame, which must be whole; gives its time stamp, `None` at the end.
    pub fn advance(&mut self) -> Result<Option<Timestamp>, PortError> {
        self.number += 1;
        let mut header = [0; RECORD_HEADER];
        match fill(&mut self.source, &mut header) {
            Ok(RECORD_HEADER) => {}
            Ok(0) => return Ok(None),
            Ok(_) => return Err(self.error("the file ends inside its header")),
            Err(error) => return Err(self.error(&system::reason(&error))),
        }
        let [seconds, fraction, captured, length] =
            [0, 4, 8, 12].map(|at| word(&header, at, self.big_endian));
        let captured = captured as usize;
        if captured > LONGEST {
            return Err(self.error(&format!("a length of {captured} bytes")));
        }
        if captured != length as usize {
            return Err(self.error(&format!(
                "{captured} of {length} bytes were captured, expected whole frames"
            )));
        }
        self.frame.resize(captured, 0);
        match fill(&mut self.source, &mut self.frame) {
            Ok(filled) if filled == captured => {}
            Ok(_) => return Err(self.error("the file ends inside it")),
            Err(error) => return Err(self.error(&system::reason(&error))),
        }
        self.at += (RECORD_HEADER + captured) as u64;
        let time = u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.unit;
        Ok(Some(time))
    }

    /// The frame read by [`advance`](Self::advance).
    #[must_use]
    pub fn frame(&self) -> &[u8] {
        &self.frame
    }

    fn error(&self, what: &str) -> PortError {
        let Self {
            name, number, at, ..
        } = self;
        PortError(format!("{name}: frame {number} (at byte {at}): {what}"))
    }
}

fn word(header: &[u8], at: usize, big_endian: bool) -> u32 {
    let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
    if big_endian {
        u32::from_be_bytes(bytes)
    } else {
        u32::from_le_bytes(bytes)
    }
}

/// Reads until the buffer is full or the file ends; gives the number of bytes.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(
        big_endian: bool,
        magic: u32,
        link_type: u32,
        records: &[[u32; 4]],
        tail: &[u8],
    ) -> Vec<u8> {
        let mut words = vec![magic, 0x0004_0002, 0, 0, 65535, link_type];
        words.extend(records.iter().flatten());
        let bytes = |word: &u32| {
            if big_endian {
                word.to_be_bytes()
            } else {
                word.to_le_bytes()
            }
        };
        let mut file: Vec<u8> = words.iter().flat_map(bytes).collect();
        file.extend(tail);
        file
    }

    type Frames = Vec<(Timestamp, Vec<u8>)>;

    fn frames(file: &[u8]) -> Result<Frames, String> {
        let mut reader =
            PcapReader::new(file, "X_in.pcap".to_owned()).map_err(|error| error.to_string())?;
        let mut frames = Vec::new();
        while let Some(time) = reader.advance().map_err(|error| error.to_string())? {
            frames.push((time, reader.frame().to_vec()));
        }
        Ok(frames)
    }

    #[test]
    fn both_units_and_byte_orders() {
        for big_endian in [false, true] {
            for (magic, expected) in [(MICROSECONDS, 3_000_007_000), (NANOSECONDS, 3_000_000_007)] {
                for link_type in [LINKTYPE_ETHERNET, LINKTYPE_NULL, 0x1400_0001] {
                    let file = file(big_endian, magic, link_type, &[[3, 7, 2, 2]], &[8, 9]);
                    assert_eq!(frames(&file), Ok(vec![(expected, vec![8, 9])]));
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let good = |records: &[[u32; 4]], tail: &[u8]| file(false, MICROSECONDS, 1, records, tail);
        let table: [(Vec<u8>, &str); 8] = [
            (vec![], "no capture file (pcap)"),
            (good(&[], &[])[..23].to_vec(), "no capture file (pcap)"),
            (
                PCAPNG.to_le_bytes().to_vec(),
                "a pcapng file, expected pcap (editcap -F pcap converts it)",
            ),
            (
                file(false, MICROSECONDS, 101, &[], &[]),
                "link type 101, expected 1 (Ethernet)",
            ),
            (
                good(&[[0, 0, 1, 1]], &[7, 0, 0]),
                "frame 2 (at byte 41): the file ends inside its header",
            ),
            (
                good(&[[0, 0, 4, 4]], &[7]),
                "frame 1 (at byte 24): the file ends inside it",
            ),
            (
                good(&[[0, 0, 1, 4]], &[7]),
                "frame 1 (at byte 24): 1 of 4 bytes were captured, expected whole frames",
            ),
            (
                good(&[[0, 0, u32::MAX, u32::MAX]], &[]),
                "frame 1 (at byte 24): a length of 4294967295 bytes",
            ),
        ];
        for (file, expected) in table {
            assert_eq!(frames(&file), Err(format!("X_in.pcap: {expected}")));
        }
    }
}
