//! The device of a host's smoltcp.

use smoltcp::phy::{self, Checksum, DeviceCapabilities, Medium};
use smoltcp::time::Instant;

use crate::frame::ETHERNET_HEADER;

/// Strips the Ethernet header of frames for smoltcp, and leaves room for it in frames from smoltcp.
pub(crate) struct Device {
    mtu: usize,
    /// The frame that smoltcp takes next, or has taken.
    incoming: Vec<u8>,
    has_incoming: bool,
    /// Frames in order of sending; their Ethernet headers are still empty.
    pub outgoing: Vec<Vec<u8>>,
    /// Memory of taken frames, for reuse.
    spare: Vec<Vec<u8>>,
}

/// IPv4 and TCP, each with all options.
const LONGEST_HEADERS: usize = 60 + 60;

/// As many as a full window of segments, which one acknowledgement can release.
const SPARE_BUFFERS: usize = 64;

impl Device {
    pub fn new(mtu: usize) -> Self {
        Self {
            mtu,
            incoming: Vec::new(),
            has_incoming: false,
            outgoing: Vec::new(),
            spare: Vec::new(),
        }
    }

    pub fn give(&mut self, frame: Vec<u8>) {
        let taken = std::mem::replace(&mut self.incoming, frame);
        self.has_incoming = true;
        if taken.capacity() > 0 && self.spare.len() < SPARE_BUFFERS {
            self.spare.push(taken);
        }
    }
}

impl phy::Device for Device {
    type RxToken<'a> = RxToken<'a>;
    type TxToken<'a> = TxToken<'a>;

    fn receive(&mut self, _now: Instant) -> Option<(RxToken<'_>, TxToken<'_>)> {
        if !std::mem::take(&mut self.has_incoming) {
            return None;
        }
        let outgoing = TxToken {
            outgoing: &mut self.outgoing,
            spare: &mut self.spare,
        };
        Some((RxToken(&self.incoming), outgoing))
    }

    fn transmit(&mut self, _now: Instant) -> Option<TxToken<'_>> {
        Some(TxToken {
            outgoing: &mut self.outgoing,
            spare: &mut self.spare,
        })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        // Checksums of received frames are already verified; TCP's of sent ones are written later.
        capabilities.checksum.ipv4 = Checksum::Tx;
        capabilities.checksum.tcp = Checksum::None;
        capabilities
    }
}

pub(crate) struct RxToken<'a>(&'a [u8]);

impl phy::RxToken for RxToken<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(self.0.get(ETHERNET_HEADER..).unwrap_or_default())
    }
}

pub(crate) struct TxToken<'a> {
    outgoing: &'a mut Vec<Vec<u8>>,
    spare: &'a mut Vec<Vec<u8>>,
}

impl phy::TxToken for TxToken<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut frame = self.spare.pop().unwrap_or_default();
        // smoltcp writes all data, but leaves bits of headers as they are.
        frame.resize(ETHERNET_HEADER + length, 0);
        let headers = frame.len().min(ETHERNET_HEADER + LONGEST_HEADERS);
        frame[..headers].fill(0);
        let result = fill(&mut frame[ETHERNET_HEADER..]);
        self.outgoing.push(frame);
        result
    }
}
