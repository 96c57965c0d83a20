//! Entities of which there are few: all of them are collected when the read begins.

use crate::message::entity::{DigestEntry, Entity, Kind};
use crate::schema::{Schema, find};
use crate::status::Result;
use crate::store::Store;

fn entity(kind: Kind) -> Entity {
    Entity { kind: Some(kind) }
}

pub(super) fn digests(schema: &Schema, store: &Store, wanted: DigestEntry) -> Result<Vec<Entity>> {
    let wanted = wanted.digest_id;
    if wanted != 0 {
        find(&schema.digests, wanted, "digest")?;
    }
    let enabled = store.rest.digests.iter();
    let found = enabled
        .filter(|(id, _)| wanted == 0 || **id == wanted)
        .map(|(id, config)| DigestEntry {
            digest_id: *id,
            config: Some(*config),
        });
    Ok(found.map(Kind::Digest).map(entity).collect())
}
