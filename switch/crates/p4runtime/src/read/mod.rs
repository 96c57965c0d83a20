//! Read: entities by key or by wildcard, in pieces of bounded size.
//!
//! The extent is fixed when the read begins: entries as they are then, and ranges of cells, whose
//! values are read piece by piece. So neither the answer nor the switch's lock is held for long.

mod arrays;
mod entries;
mod rest;

pub(crate) use entries::{Native, with_counter, with_meter};

use std::collections::VecDeque;
use std::sync::Mutex;

use phb_node::SwitchNode;
use phb_pipeline::{Pipeline, Time};
use prost::Message;
use prost::bytes::BufMut;
use prost::encoding::{WireType, encode_key, encode_varint, encoded_len_varint, key_len};

use crate::message::entity::{Entity, Kind};
use crate::role::Role;
use crate::schema::Schema;
use crate::status::{Code, Outcome, Refusal, Result, invalid, unimplemented};
use crate::store::Store;
use crate::write::lock;

/// Bytes of one response: some milliseconds of work, far below the 4 MB clients accept by default.
const PIECE_BYTES: usize = 256 << 10;

/// Entities that are checked, fitting or not, before packets get their turn.
const AT_A_TIME: usize = 8192;

/// Tables, arrays and cells that one read may name; a wildcard counts what it stands for.
const MOST_SOURCES: usize = 1 << 13;

fn too_much() -> Refusal {
    let message = format!("a read names {MOST_SOURCES} tables, arrays and cells at most");
    Refusal::new(Code::ResourceExhausted, message)
}

/// A read in progress.
pub struct Reader {
    sources: VecDeque<Source>,
    outcomes: Vec<Outcome>,
}

enum Source {
    Entries(Box<entries::Entries>),
    Cells(arrays::Cells),
    /// Few enough to have been collected when the read began.
    Ready(VecDeque<Entity>),
}

impl Reader {
    pub(crate) fn new(
        schema: &Schema,
        store: &Store,
        role: &Role,
        entities: impl Iterator<Item = Result<Entity>>,
    ) -> Self {
        let mut reader = Self {
            sources: VecDeque::new(),
            outcomes: Vec::new(),
        };
        for entity in entities {
            let full = reader.sources.len() >= MOST_SOURCES;
            let found = entity.and_then(|entity| match full {
                true => Err(too_much()),
                false => sources(schema, store, role, entity),
            });
            reader
                .outcomes
                .push(found.map(|sources| reader.sources.extend(sources)));
        }
        reader
    }

    /// The outcome of each request of the batch.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// The next serialized p4.v1.ReadResponse; None at the end, or if `node` has no program.
    pub fn next_piece(&mut self, node: &Mutex<SwitchNode>) -> Option<Vec<u8>> {
        let mut piece = Vec::with_capacity(PIECE_BYTES + 1024);
        while piece.is_empty() && !self.sources.is_empty() {
            let node = lock(node);
            let pipeline = node.pipeline()?;
            for _ in 0..AT_A_TIME {
                let Some(source) = self
                    .sources
                    .front_mut()
                    .filter(|_| piece.len() < PIECE_BYTES)
                else {
                    break;
                };
                if !source.write_next(pipeline, node.now(), &mut piece) {
                    self.sources.pop_front();
                }
            }
        }
        (!piece.is_empty()).then_some(piece)
    }
}

impl Source {
    /// Adds the next entity to a piece; false at the end.
    fn write_next(&mut self, pipeline: &Pipeline, now: Time, piece: &mut Vec<u8>) -> bool {
        match self {
            Self::Entries(entries) => entries.write_next(pipeline, now, piece),
            Self::Cells(cells) => match cells.next(pipeline) {
                Some(entity) => write_entity(piece, &entity),
                None => false,
            },
            Self::Ready(entities) => match entities.pop_front() {
                Some(entity) => write_entity(piece, &entity),
                None => false,
            },
        }
    }
}

/// Number of `entities` in ReadResponse and of `table_entry` in Entity.
const ENTITIES: u32 = 1;
const TABLE_ENTRY: u32 = 2;

fn write_entity(piece: &mut Vec<u8>, entity: &Entity) -> bool {
    prost::encoding::message::encode(ENTITIES, entity, piece);
    true
}

fn write_table_entry(piece: &mut Vec<u8>, serialized: &[u8]) {
    let length = serialized.len();
    let entity = key_len(TABLE_ENTRY) + encoded_len_varint(length as u64) + length;
    encode_key(ENTITIES, WireType::LengthDelimited, piece);
    encode_varint(entity as u64, piece);
    encode_key(TABLE_ENTRY, WireType::LengthDelimited, piece);
    encode_varint(length as u64, piece);
    piece.put_slice(serialized);
}

fn sources(schema: &Schema, store: &Store, role: &Role, entity: Entity) -> Result<Vec<Source>> {
    let ready = |entities: Vec<Entity>| {
        let seen = entities
            .into_iter()
            .filter(|entity| entity.kind.as_ref().is_some_and(|kind| role.sees(kind)));
        ready(seen.collect())
    };
    match entity.kind {
        Some(kind) if !role.sees(&kind) => Ok(Vec::new()),
        None => invalid("the request has no entity"),
        Some(Kind::Table(wanted)) => entries::table_entries(schema, store, wanted),
        Some(Kind::DirectCounter(wanted)) => entries::direct_counters(schema, store, wanted),
        Some(Kind::Counter(wanted)) => arrays::counters(schema, &wanted),
        Some(Kind::Register(wanted)) => arrays::registers(schema, &wanted),
        Some(Kind::Meter(wanted)) => arrays::meters(schema, &wanted),
        Some(Kind::DirectMeter(wanted)) => entries::direct_meters(schema, store, wanted),
        Some(Kind::Member(wanted)) => rest::members(schema, store, &wanted).map(ready),
        Some(Kind::Group(wanted)) => rest::groups(schema, store, &wanted).map(ready),
        Some(Kind::Replication(wanted)) => rest::replication(store, wanted).map(ready),
        Some(Kind::ValueSet(wanted)) => rest::value_sets(schema, store, &wanted).map(ready),
        Some(Kind::Digest(wanted)) => rest::digests(schema, store, wanted).map(ready),
        // A wildcard for a kind that v1model lacks finds nothing.
        Some(other) if names_nothing(&other) => Ok(Vec::new()),
        Some(Kind::Extern(_)) => {
            unimplemented("extern_entry is not supported: v1model has no such externs")
        }
    }
}

fn ready(entities: Vec<Entity>) -> Vec<Source> {
    vec![Source::Ready(entities.into())]
}

/// Whether a message has all its fields at their defaults, at any depth.
fn names_nothing(kind: &Kind) -> bool {
    match kind {
        Kind::Extern(wanted) => wanted.encoded_len() == 0,
        _ => false,
    }
}
