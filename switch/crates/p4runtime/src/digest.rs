//! Digests on their way to clients.

use crate::Configuration;
use crate::schema::Digest;

/// How digests of a kind are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestConfig {
    /// The id of the digest in the p4info.
    pub id: u32,
    /// How long a message may wait for others, in nanoseconds.
    pub max_timeout_ns: u64,
    /// Messages of one list at most; 0 is no limit.
    pub max_list_size: usize,
    /// How long an unacknowledged message is not sent again, in nanoseconds.
    pub ack_timeout_ns: u64,
}

impl Configuration {
    /// How digests of the kind with this name in the artifact are sent; None if clients have not enabled it.
    #[must_use]
    pub fn digest_config(&self, name: &str) -> Option<DigestConfig> {
        let digest = self.digest(name)?;
        let config = *self.store().rest.digests.get(&digest.id)?;
        Some(DigestConfig {
            id: digest.id,
            max_timeout_ns: config.max_timeout_ns.unsigned_abs(),
            max_list_size: config.max_list_size.unsigned_abs() as usize,
            ack_timeout_ns: config.ack_timeout_ns.unsigned_abs(),
        })
    }

    /// Whether the p4info has a digest with this id.
    #[must_use]
    pub fn has_digest(&self, id: u32) -> bool {
        self.schema.digests.contains_key(&id)
    }

    /// One message of a digest as a serialized p4.v1.P4Data; None if the p4info has no such digest.
    #[must_use]
    pub fn digest_data(&self, name: &str, fields: Vec<Vec<u8>>) -> Option<Vec<u8>> {
        let data = self.digest(name)?.shape.value(&mut fields.into_iter());
        Some(prost::Message::encode_to_vec(&data))
    }

    fn digest(&self, name: &str) -> Option<&Digest> {
        self.schema
            .digests
            .values()
            .find(|digest| digest.native == name)
    }
}
