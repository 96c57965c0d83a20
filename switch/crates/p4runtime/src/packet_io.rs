//! Packet-in and packet-out: the controller header between its bits on the CPU port and P4Runtime's metadata.

use prost::Message;

use crate::bytestring::shorten;
use crate::message::request::{ControllerPacket, PacketMetadata, PacketResponse};
use crate::schema::{Field, Naming};
use crate::status::{Result, invalid};
use crate::{Code, Configuration, Refusal, malformed};

/// A packet on its way to controllers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketIn(PacketResponse);

impl PacketIn {
    /// Whether it has this metadata field with this value, in canonical form.
    #[must_use]
    pub fn has(&self, metadata_id: u32, value: &[u8]) -> bool {
        let mut metadata = self.0.packet.iter().flat_map(|packet| &packet.metadata);
        metadata.any(|each| each.metadata_id == metadata_id && each.value == value)
    }

    /// The packet as a serialized p4.v1.StreamMessageResponse.
    #[must_use]
    pub fn response(&self) -> Vec<u8> {
        self.0.encode_to_vec()
    }
}

impl Configuration {
    /// Splits a frame from the CPU port into metadata (none without a header) and payload.
    ///
    /// # Errors
    /// `Internal`, if the frame is shorter than the header.
    pub fn packet_in(&self, frame: &[u8]) -> Result<PacketIn> {
        let header = &self.schema.packet_in;
        let bits: u32 = header.iter().map(|field| field.bits).sum();
        let length = (bits / 8) as usize;
        let Some((bytes, payload)) = frame.split_at_checked(length) else {
            return Err(Refusal::new(
                Code::Internal,
                format!(
                    "a packet-in of {} bytes is shorter than its header of {length}",
                    frame.len()
                ),
            ));
        };
        let mut first = 0;
        let metadata = header.iter().map(|field| {
            let value = field.form.give(bits_of(bytes, first, field.bits));
            first += field.bits;
            PacketMetadata {
                metadata_id: field.id,
                value,
            }
        });
        let metadata = metadata.collect();
        let payload = payload.to_vec();
        let packet = Some(ControllerPacket { payload, metadata });
        Ok(PacketIn(PacketResponse { packet }))
    }

    /// The frame that goes into the CPU port for a serialized p4.v1.PacketOut: the header, then the payload.
    ///
    /// # Errors
    /// `InvalidArgument`, if the metadata are not exactly the fields of the header.
    pub fn packet_out(&self, serialized: &[u8]) -> Result<Vec<u8>> {
        let mut packet = ControllerPacket::decode(serialized).map_err(|error| malformed(&error))?;
        let header = &self.schema.packet_out;
        let bits: u32 = header.iter().map(|field| field.bits).sum();
        let mut frame = vec![0; (bits / 8) as usize];
        frame.reserve_exact(packet.payload.len());
        let mut first = 0;
        for field in header {
            let mut given = packet
                .metadata
                .iter_mut()
                .filter(|each| each.metadata_id == field.id);
            let Some(value) = given.next() else {
                return invalid(format!(
                    "packet_out: metadata field {} (id {}) is missing",
                    field.name, field.id
                ));
            };
            if given.next().is_some() {
                return invalid(format!(
                    "packet_out: metadata field {} is given twice",
                    field.name
                ));
            }
            let what = format_args!("packet_out, {}", field.name);
            let number = {
                let (value, naming) = (&mut value.value, Naming::Known);
                field.form.receive(value, field.bits, naming, what)?
            };
            put_bits(&mut frame, first, field, &number);
            first += field.bits;
        }
        let unknown = packet
            .metadata
            .iter()
            .find(|each| header.iter().all(|field| field.id != each.metadata_id));
        if let Some(unknown) = unknown {
            return invalid(format!(
                "packet_out has no metadata field with id {}",
                unknown.metadata_id
            ));
        }
        frame.append(&mut packet.payload);
        Ok(frame)
    }
}

/// The canonical number in `bits` bits from bit `first` (0 is the most significant). Bits beyond
/// the end are left out: a header that is not whole bytes is the program's error.
fn bits_of(bytes: &[u8], first: u32, bits: u32) -> Vec<u8> {
    let mut value = vec![0; bits.div_ceil(8) as usize];
    for place in 0..bits {
        let from = (first + place) as usize;
        let set = bytes
            .get(from / 8)
            .is_some_and(|byte| byte >> (7 - from % 8) & 1 == 1);
        let to = (bits - 1 - place) as usize;
        let last = value.len() - 1;
        value[last - to / 8] |= u8::from(set) << (to % 8);
    }
    shorten(&mut value);
    value
}

fn put_bits(bytes: &mut [u8], first: u32, field: &Field, value: &[u8]) {
    for place in 0..field.bits.min(8 * value.len() as u32) {
        let from = place as usize;
        let set = value[value.len() - 1 - from / 8] >> (from % 8) & 1;
        let to = (first + field.bits - 1 - place) as usize;
        if let Some(byte) = bytes.get_mut(to / 8) {
            *byte |= set << (7 - to % 8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytestring::of_number;
    use crate::schema::Form;
    use proptest::prelude::*;

    proptest! {
        /// Fields side by side are the digits of one number.
        #[test]
        fn fields_are_packed_bit_by_bit(numbers in proptest::collection::vec((any::<u32>(), 1u32..32), 1..5)) {
            let mut total: u128 = 0;
            let mut first = 0;
            let mut bytes = vec![0; 16];
            let mut expected = Vec::new();
            for (number, bits) in numbers {
                let number = number & ((1u64 << bits) - 1) as u32;
                let field = Field { id: 1, name: String::new(), bits, form: Form::Number, absent: false };
                put_bits(&mut bytes, first, &field, &of_number(number.into()));
                total |= u128::from(number) << (128 - first - bits);
                expected.push((first, bits, of_number(number.into())));
                first += bits;
            }
            prop_assert_eq!(&bytes[..], &total.to_be_bytes()[..]);
            for (first, bits, number) in expected {
                prop_assert_eq!(bits_of(&bytes, first, bits), number);
            }
        }
    }
}
