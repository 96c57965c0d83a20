//! Batches: fields around them are decoded at once, members one at a time, when their turn comes: a
//! member of two bytes may become some hundred, so decoded batches would be many times larger.

use std::ops::Range;

use prost::Message;
use prost::bytes::Bytes;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint};

use crate::malformed;
use crate::message::entity::Entity;
use crate::message::request::{Read, Update, Write};
use crate::status::{Result, invalid};

/// Updates of a WriteRequest at most.
pub const MOST_UPDATES: usize = 1 << 17;
/// Entities of a ReadRequest at most.
pub const MOST_ENTITIES: usize = 1 << 13;
pub const MOST_MEMBER_BYTES: usize = 1 << 20;

/// A request with a batch of members, without the batch.
pub trait Around: Message + Default {
    /// The number of the members' field.
    const FIELD: u32;
    const MOST: usize;

    /// Device id and role of the client.
    fn addressed(&self) -> (u64, &str);
}

impl Around for Write {
    const FIELD: u32 = 4;
    const MOST: usize = MOST_UPDATES;

    fn addressed(&self) -> (u64, &str) {
        (self.device_id, &self.role)
    }
}

impl Around for Read {
    const FIELD: u32 = 2;
    const MOST: usize = MOST_ENTITIES;

    fn addressed(&self) -> (u64, &str) {
        (self.device_id, &self.role)
    }
}

/// A p4.v1.WriteRequest.
pub type WriteRequest = Batch<Write>;
/// A p4.v1.ReadRequest.
pub type ReadRequest = Batch<Read>;

/// A request whose members stay serialized until they are asked for.
#[derive(Default)]
pub struct Batch<A> {
    around: A,
    serialized: Bytes,
    places: Vec<Range<u32>>,
}

impl<A: Around> Batch<A> {
    /// Reads a serialized request.
    ///
    /// # Errors
    /// `InvalidArgument`, if it is not one, or larger than a batch may be.
    pub fn decode(serialized: Bytes) -> Result<Self> {
        Self::find(serialized).map_err(|error| malformed(&error))?
    }

    fn find(serialized: Bytes) -> std::result::Result<Result<Self>, prost::DecodeError> {
        let whole = serialized.len();
        let mut left: &[u8] = &serialized;
        let mut around = A::default();
        let mut places = Vec::new();
        while !left.is_empty() {
            let (tag, wire_type) = decode_key(&mut left)?;
            if tag != A::FIELD || wire_type != WireType::LengthDelimited {
                around.merge_field(tag, wire_type, &mut left, DecodeContext::default())?;
                continue;
            }
            let length = usize::try_from(decode_varint(&mut left)?).unwrap_or(usize::MAX);
            if length > MOST_MEMBER_BYTES {
                return Ok(invalid(format!(
                    "number {} of the batch has {length} bytes; the most is {MOST_MEMBER_BYTES}",
                    places.len()
                )));
            }
            let first = whole - left.len();
            let Some((_, behind)) = left.split_at_checked(length) else {
                return Ok(invalid(
                    "the request can not be read: it ends within a member of its batch",
                ));
            };
            if places.len() == A::MOST {
                return Ok(invalid(format!("a batch has {} members at most", A::MOST)));
            }
            left = behind;
            let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            places.push(place(first)..place(first + length));
        }
        Ok(Ok(Self {
            around,
            serialized,
            places,
        }))
    }

    #[must_use]
    pub fn device_id(&self) -> u64 {
        self.around.addressed().0
    }

    #[must_use]
    pub fn role(&self) -> &str {
        self.around.addressed().1
    }

    fn members<M: Message + Default>(&self) -> impl ExactSizeIterator<Item = Result<M>> {
        self.places.iter().map(|place| {
            let member = &self.serialized[place.start as usize..place.end as usize];
            M::decode(member).map_err(|error| malformed(&error))
        })
    }
}

impl WriteRequest {
    #[must_use]
    pub fn election_id(&self) -> Option<u128> {
        let id = self.around.election_id?;
        Some(u128::from(id.high) << 64 | u128::from(id.low))
    }

    pub(crate) fn atomicity(&self) -> i32 {
        self.around.atomicity
    }

    pub(crate) fn updates(&self) -> impl ExactSizeIterator<Item = Result<Update>> {
        self.members()
    }
}

impl ReadRequest {
    pub(crate) fn entities(&self) -> impl Iterator<Item = Result<Entity>> {
        self.members()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Code;

    fn batch(members: usize, length: usize) -> Bytes {
        let mut serialized = vec![0x08, 7];
        for _ in 0..members {
            serialized.push(0x22);
            prost::encoding::encode_varint(length as u64, &mut serialized);
            serialized.resize(serialized.len() + length, 0);
        }
        serialized.into()
    }

    #[test]
    fn members_are_found_and_counted() {
        let request = WriteRequest::decode(batch(3, 0)).unwrap();
        assert_eq!(request.device_id(), 7);
        assert_eq!(request.updates().len(), 3);
        assert!(request.updates().all(|update| update.is_ok()));
    }

    #[test]
    fn one_more_than_the_most_is_refused() {
        assert!(WriteRequest::decode(batch(MOST_UPDATES, 0)).is_ok());
        let refusal = WriteRequest::decode(batch(MOST_UPDATES + 1, 0)).err();
        assert_eq!(refusal.unwrap().code, Code::InvalidArgument);
        let refusal = WriteRequest::decode(batch(1, MOST_MEMBER_BYTES + 1)).err();
        assert!(refusal.unwrap().message.contains("1048577 bytes"));
    }

    #[test]
    fn what_ends_too_early_is_refused() {
        let whole = batch(2, 5);
        for length in 1..whole.len() {
            let cut = WriteRequest::decode(whole.slice(..length));
            assert!(cut.is_err() || length == 2 || length == 9, "{length}");
        }
    }
}
