//! DigestEntry: whether and how digests of a kind are sent.

use super::{Operation, Step};
use crate::message::entity::DigestEntry;
use crate::schema::{Schema, find};
use crate::status::{Code, Refusal, Result, invalid};
use crate::store::Store;

pub(super) fn digest(
    operation: Operation,
    entry: DigestEntry,
    schema: &Schema,
    store: &Store,
) -> Result<Step> {
    let digest = find(&schema.digests, entry.digest_id, "digest")?;
    let name = &digest.name;
    let enabled = store.rest.digests.contains_key(&digest.id);
    match (operation, enabled) {
        (Operation::Insert, true) => {
            let message = format!("digest {name} is enabled already");
            return Err(Refusal::new(Code::AlreadyExists, message));
        }
        (Operation::Modify | Operation::Delete, false) => {
            let message = format!("digest {name} is not enabled");
            return Err(Refusal::new(Code::NotFound, message));
        }
        _ => {}
    }
    let id = digest.id;
    if operation == Operation::Delete {
        return Ok(Step::new(Vec::new(), move |store| {
            store.rest_mut().digests.remove(&id);
        }));
    }
    let Some(config) = entry.config else {
        return invalid(format!("digest {name}: the entry has no config"));
    };
    if config.max_timeout_ns < 0 || config.max_list_size < 0 || config.ack_timeout_ns < 0 {
        return invalid(format!(
            "digest {name}: timeouts and list size can not be negative"
        ));
    }
    Ok(Step::new(Vec::new(), move |store| {
        store.rest_mut().digests.insert(id, config);
    }))
}
