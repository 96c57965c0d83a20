//! What smoltcp calls a device: where it finds the datagram that came and leaves those that go.

use smoltcp::phy::{self, Checksum, DeviceCapabilities, Medium};
use smoltcp::time::Instant;

use crate::datagram::ETHERNET_HEADER;

/// Datagrams travel in Ethernet frames; smoltcp gets and gives only the datagram in them.
pub(crate) struct Device {
    mtu: usize,
    /// The frame that smoltcp is to take next.
    pub incoming: Option<Vec<u8>>,
    /// The frames that smoltcp has filled, in order; their Ethernet headers are still empty.
    pub outgoing: Vec<Vec<u8>>,
}

impl Device {
    pub fn new(mtu: usize) -> Self {
        Self {
            mtu,
            incoming: None,
            outgoing: Vec::new(),
        }
    }
}

impl phy::Device for Device {
    type RxToken<'a> = RxToken;
    type TxToken<'a> = TxToken<'a>;

    fn receive(&mut self, _now: Instant) -> Option<(RxToken, TxToken<'_>)> {
        let frame = self.incoming.take()?;
        Some((RxToken(frame), TxToken(&mut self.outgoing)))
    }

    fn transmit(&mut self, _now: Instant) -> Option<TxToken<'_>> {
        Some(TxToken(&mut self.outgoing))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = self.mtu;
        // What comes has been verified, and counted if wrong, before smoltcp gets it.
        capabilities.checksum.ipv4 = Checksum::Tx;
        capabilities.checksum.tcp = Checksum::Tx;
        capabilities
    }
}

pub(crate) struct RxToken(Vec<u8>);

impl phy::RxToken for RxToken {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(self.0.get(ETHERNET_HEADER..).unwrap_or_default())
    }
}

pub(crate) struct TxToken<'a>(&'a mut Vec<Vec<u8>>);

impl phy::TxToken for TxToken<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut frame = vec![0; ETHERNET_HEADER + length];
        let result = fill(&mut frame[ETHERNET_HEADER..]);
        self.0.push(frame);
        result
    }
}
