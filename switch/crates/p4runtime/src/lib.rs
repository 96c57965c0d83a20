//! The part of P4Runtime that looks into entities: what Write and Read mean for a program, its p4info and a switch.
//!
//! ```text
//!   p4info --read--> Schema --bind--> agrees with the program
//!
//!   WriteRequest -> per update: validate, canonical form, translate -> SwitchNode::write -> Store
//!   ReadRequest  -> Reader -> pieces of the answer, out of Store and switch
//! ```
//!
//! Requests and answers are serialized protobuf, which the gRPC server passes on. It decides who
//! may write and which configuration is in use.
//!
//! In reading order: `message` (the protocol's messages), [`requests`] (batches, decoded piece by piece), [`status`]
//! (refusals), `schema` (a p4info by id), `bytestring`, `keys` and `actions` (the parts of entities), `store` (entities to
//! read back), `strings` (those that no entity has any more), `write`, `read`, `reconcile` (state that a new program keeps),
//! `native` (changes by others), `arrays` (for readers of many cells), `packet_io`, `digest`, `idle`, `batch`
//! (outcomes in gRPC's metadata).

mod actions;
mod arrays;
mod batch;
mod bytestring;
mod digest;
mod idle;
mod initial;
mod keys;
mod message;
mod native;
mod packet_io;
mod read;
mod reconcile;
mod requests;
mod role;
mod schema;
pub mod status;
mod store;
mod strings;
mod write;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use arrays::Array;
pub use batch::Failure as BatchFailure;
pub use digest::DigestConfig;
pub use packet_io::PacketIn;
use phb_node::{SwitchNode, tracing};
pub use read::Reader;
pub use requests::{ReadRequest, WriteRequest};
pub use role::Role;
pub use status::{Code, Outcome, Refusal};

use crate::schema::Schema;
use crate::status::{Result, invalid};
use crate::store::Store;

/// A program with its p4info and all entities that clients have written.
/// Each call gets the switch that has it loaded: until the commit that is another one.
pub struct Configuration {
    schema: Schema,
    store: Mutex<Store>,
    artifact: Arc<str>,
}

impl Configuration {
    /// Joins a serialized P4Info and the program that a switch has loaded. `ports` are the names of interfaces by the
    /// numbers of their ports: where types of ports are strings, clients may have them.
    ///
    /// # Errors
    /// `InvalidArgument` or `Unimplemented`, with the first disagreement or unsupported thing.
    pub fn new(
        p4info: &[u8],
        node: &Mutex<SwitchNode>,
        ports: &BTreeMap<u16, String>,
    ) -> Result<Self> {
        let ports = ports.iter().map(|(port, name)| (name.clone(), *port));
        let mut schema = Schema::read(p4info, &Arc::new(ports.collect()))?;
        let mut store = Store::default();
        let node = write::lock(node);
        let Some(pipeline) = node.pipeline() else {
            return Err(Refusal::new(
                Code::FailedPrecondition,
                "the switch has no program",
            ));
        };
        schema.bind(pipeline)?;
        initial::fill(&mut store, &schema, pipeline);
        Ok(Self {
            schema,
            store: Mutex::new(store),
            artifact: Arc::clone(pipeline.artifact()),
        })
    }

    /// Applies a batch as a client of a role; one outcome per update.
    ///
    /// # Errors
    /// `InvalidArgument` for an unknown atomicity.
    pub fn write(
        &self,
        node: &Mutex<SwitchNode>,
        request: &WriteRequest,
        role: &Role,
    ) -> Result<Vec<Outcome>> {
        let apply = match request.atomicity() {
            0 => write::one_by_one,
            // Packets see the switch only between batches, so both are atomic for the data plane.
            1 | 2 => write::all_or_none,
            other => return invalid(format!("there is no atomicity {other}")),
        };
        let mut store = self.store();
        strings::forget_unused(&self.schema, &store);
        Ok(apply(
            &self.schema,
            &mut store,
            node,
            role,
            request.updates(),
        ))
    }

    /// Moves the program with its state to another switch, whose own state is lost.
    pub fn commit(&self, from: &Mutex<SwitchNode>, to: &Mutex<SwitchNode>) {
        let (pipeline, replication) = {
            let mut from = write::lock(from);
            (from.take_pipeline(), from.replication().clone())
        };
        if let Some(pipeline) = pipeline {
            let mut node = write::lock(to);
            node.install(pipeline);
            node.set_replication(replication);
            drop(node);
            tracing::equip(to);
        }
    }

    /// Begins a batch of reads, without objects that are not the role's.
    #[must_use]
    pub fn read(&self, request: &ReadRequest, role: &Role) -> Reader {
        let schema = match role.sees_all() {
            true => Cow::Borrowed(&self.schema),
            false => Cow::Owned(self.schema.of_role(role)),
        };
        Reader::new(&schema, &self.store(), role, request.entities())
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn malformed(error: &prost::DecodeError) -> Refusal {
    let message = format!("the request can not be read: {error}");
    Refusal::new(Code::InvalidArgument, message)
}
