//! SNA sessions of a TN3270 server: one per connection, named by the address in SNA's frames.

use phb_network::Frame;

use crate::sna;

/// Locally administered.
const SESSION_MAC: u8 = 0x42;

/// A connection's place on the host, and its peer's port, which the next one there won't have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Session {
    pub slot: usize,
    pub port: u16,
}

impl Session {
    /// A request to the application.
    pub fn request(self, buffer: Vec<u8>, length: u64) -> Frame {
        let [.., high, middle, low] = self.slot.to_be_bytes();
        let [port_high, port_low] = self.port.to_be_bytes();
        let address = [SESSION_MAC, high, middle, low, port_high, port_low];
        Frame::new(sna::request(buffer, address, length))
    }

    /// The session of an answer; `None` for other frames.
    pub fn answered(frame: &Frame) -> Option<Self> {
        let header = sna::read(&frame.bytes)?;
        if header.kind != sna::Kind::Information {
            return None;
        }
        let [_, high, middle, low, port_high, port_low] = header.destination;
        Some(Self {
            slot: u32::from_be_bytes([0, high, middle, low]) as usize,
            port: u16::from_be_bytes([port_high, port_low]),
        })
    }
}
