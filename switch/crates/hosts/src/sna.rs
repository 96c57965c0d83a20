//! SNA frames on a LAN.
//!
//! ```text
//! 802.3 header      LLC (ISO 8802-2)          TH, FID2        RH   RU
//! to  from  length  DSAP SSAP control (1..2)  .. .. DAF OAF SNF    request or reply
//! 6   6     2       1    1    1 or 2          6               3    as long as the traffic says
//! ```
//!
//! A station is a physical unit: it opens an LLC2 connection (SABME, answered by UA, or by DM if
//! refused) for the requests of its logical units. Nothing is lost between stations and host, so
//! information frames have no sequence numbers and there are no supervisory frames: an adapter's
//! cost per frame includes LLC2's acknowledgements.

use crate::frame::ETHERNET_HEADER;

/// Station address on a LAN.
pub type Mac = [u8; 6];

/// The adapter's address on the LAN: locally administered.
pub const ADAPTER: Mac = [0x40, 0, 0, 0, 0, 1];

const SAP: usize = ETHERNET_HEADER;
const CONTROL: usize = SAP + 2;
/// The bit of a source SAP that marks a response.
const RESPONSE: u8 = 1;
/// SAP of SNA path control.
const SNA_SAP: u8 = 0x04;
/// SABME with poll, UA and DM with final (ISO 8802-2, section 5.4).
const SABME: u8 = 0x7f;
const UA: u8 = 0x73;
const DM: u8 = 0x1f;
/// LLC and a control field of two bytes.
const INFORMATION_LLC: usize = 4;
/// First byte of the transmission header of a whole segment, format identifier 2.
const FID2_WHOLE: u8 = 0x2c;
const TH: usize = ETHERNET_HEADER + INFORMATION_LLC;
/// Place of the destination's local address.
pub const DAF: usize = TH + 2;
/// Place of the origin's local address.
pub const OAF: usize = TH + 3;
const TH_AND_RH: usize = 6 + 3;

/// Bytes before the request or reply, Ethernet header included.
const INFORMATION_HEADER: usize = TH + TH_AND_RH;

/// The purpose of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A request to open a connection.
    Connect,
    /// The connection is open.
    Accepted,
    /// There is no connection.
    Refused,
    /// Data.
    Information,
}

/// The header fields that adapters and hosts read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The purpose of the frame.
    pub kind: Kind,
    /// Receiver.
    pub destination: Mac,
    /// Sender.
    pub source: Mac,
}

/// Reads a frame's header; `None` if it is no SNA frame of the form above.
#[must_use]
pub fn read(frame: &[u8]) -> Option<Header> {
    let kind = match *frame.get(CONTROL)? {
        SABME => Kind::Connect,
        UA => Kind::Accepted,
        DM => Kind::Refused,
        // The lowest bit of an information frame's control field is 0.
        control if control & 1 == 0 && frame.len() >= INFORMATION_HEADER => Kind::Information,
        _ => return None,
    };
    if frame[SAP] != SNA_SAP {
        return None;
    }
    Some(Header {
        kind,
        destination: frame[..6].try_into().ok()?,
        source: frame[6..12].try_into().ok()?,
    })
}

/// Makes a request of a server's session: an information frame with `length` bytes of data.
#[must_use]
pub fn request(frame: Vec<u8>, session: Mac, length: u64) -> Vec<u8> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    information(frame, ADAPTER, session, 1, 1, length)
}

/// Makes a station's request for a connection.
#[must_use]
pub fn connect(mut frame: Vec<u8>, to: Mac, from: Mac) -> Vec<u8> {
    begin(&mut frame, to, from, 3);
    frame.extend([SNA_SAP, SNA_SAP, SABME]);
    frame
}

/// Makes an information frame between two logical units, in the memory of `frame`.
#[must_use]
pub fn information(mut frame: Vec<u8>, to: Mac, from: Mac, daf: u8, oaf: u8, ru: usize) -> Vec<u8> {
    let length = INFORMATION_LLC + TH_AND_RH + ru;
    begin(&mut frame, to, from, length);
    frame.extend([SNA_SAP, SNA_SAP, 0, 0, FID2_WHOLE, 0, daf, oaf, 0, 0]);
    frame.resize(ETHERNET_HEADER + length, 0);
    frame
}

fn begin(frame: &mut Vec<u8>, to: Mac, from: Mac, length: usize) {
    frame.clear();
    frame.extend(to);
    frame.extend(from);
    // Token Ring has no length field, so a frame too long for Ethernet's is still correct.
    frame.extend(u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
}

/// Turns a request for a connection into its answer.
pub fn answer(frame: &mut [u8], kind: Kind) {
    for place in 0..6 {
        frame.swap(place, place + 6);
    }
    frame[SAP + 1] |= RESPONSE;
    frame[CONTROL] = if kind == Kind::Accepted { UA } else { DM };
}
