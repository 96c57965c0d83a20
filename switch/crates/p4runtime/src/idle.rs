//! Notifications of entries that have become idle.

use std::sync::Mutex;

use phb_node::SwitchNode;
use prost::Message;

use crate::Configuration;
use crate::initial::entry_of;
use crate::keys::identity;
use crate::message::entity::TableEntry;
use crate::write::lock;

impl Configuration {
    /// Takes entries that became idle since the last call: table id, serialized p4.v1.TableEntry.
    pub fn take_idle(&self, node: &Mutex<SwitchNode>) -> Vec<(u32, Vec<u8>)> {
        let idle = lock(node).take_idle();
        if idle.is_empty() {
            return Vec::new();
        }
        let store = self.store();
        let told = idle.into_iter().filter_map(|(table, entry)| {
            let table = self.schema.table_named(&table)?;
            let key = entry_of(&entry, table, &self.schema);
            // It may have been deleted meanwhile.
            let known = store.entry(table.id, &identity(&key))?;
            let entry = TableEntry {
                table_id: table.id,
                matches: known.matches,
                priority: known.priority,
                controller_metadata: known.controller_metadata,
                metadata: known.metadata,
                idle_timeout_ns: known.idle_timeout_ns,
                ..TableEntry::default()
            };
            Some((table.id, entry.encode_to_vec()))
        });
        told.collect()
    }
}
