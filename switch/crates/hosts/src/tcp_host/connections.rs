//! The connections of a host, by place and by endpoints.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::connection::Connection;
use crate::frame::Endpoints;

#[derive(Default)]
pub(super) struct Connections {
    slots: Vec<Option<Box<Connection>>>,
    free: Vec<usize>,
    by_endpoints: HashMap<Endpoints, u32, FxBuildHasher>,
}

impl Connections {
    pub fn count(&self) -> u64 {
        self.by_endpoints.len() as u64
    }

    pub fn insert(&mut self, connection: Connection) -> usize {
        let endpoints = connection.endpoints;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(Box::new(connection));
        let number = u32::try_from(slot).expect("fewer connections than pairs of ports");
        self.by_endpoints.insert(endpoints, number);
        slot
    }

    /// Removes the connection at a place, even while it is [taken](Self::take).
    pub fn remove(&mut self, slot: usize, endpoints: &Endpoints) {
        self.slots[slot] = None;
        self.free.push(slot);
        self.by_endpoints.remove(endpoints);
    }

    pub fn find(&self, endpoints: &Endpoints) -> Option<usize> {
        let slot = self.by_endpoints.get(endpoints)?;
        Some(*slot as usize)
    }

    pub fn at(&mut self, slot: usize) -> Option<&mut Connection> {
        self.slots.get_mut(slot)?.as_deref_mut()
    }

    /// Takes a connection out; [`put`](Self::put) puts it back.
    pub fn take(&mut self, slot: usize) -> Option<Box<Connection>> {
        self.slots[slot].take()
    }

    pub fn put(&mut self, slot: usize, connection: Box<Connection>) {
        self.slots[slot] = Some(connection);
    }
}
