//! The SNA sessions of a TN3270 server: one per connection, named by the address in SNA's frames.

use phb_network::Frame;

use crate::sna;

/// Locally administered, as SNA likes its addresses.
const SESSION_MAC: u8 = 0x42;

/// The session of a connection: its place on the host, and the port of its peer, which tells it from the next
/// connection in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Session {
    pub slot: usize,
    pub port: u16,
}

impl Session {
    /// The request that the session sends to the application.
    pub fn request(self, buffer: Vec<u8>, length: u64) -> Frame {
        let [.., high, middle, low] = self.slot.to_be_bytes();
        let [port_high, port_low] = self.port.to_be_bytes();
        let address = [SESSION_MAC, high, middle, low, port_high, port_low];
        Frame::new(sna::request(buffer, address, length))
    }

    /// The session that a frame answers; `None` if it answers none.
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
