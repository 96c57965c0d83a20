//! Messages from the switch to its controllers: packet-ins, digests, idle entries.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use prost::Message;
use tokio::sync::Notify;

use super::super::configuration::Loaded;
use super::super::digests::Digests;
use super::super::message::{IdleTimeoutNotification, StreamAnswer, StreamResponse};
use super::{Audience, Service, lock, with_digests};
use crate::limits;

impl Service {
    /// Passes packets from the CPU port on, as long as it is polled.
    pub async fn forward_packets(self: Arc<Self>) {
        let packet_ins = lock(&self.node).packet_ins();
        let arrived = Arc::new(Notify::new());
        let told = Arc::clone(&arrived);
        packet_ins.set_listener(Some(Arc::new(move || told.notify_one())));
        loop {
            let frames = packet_ins.take(Duration::ZERO);
            if frames.is_empty() {
                arrived.notified().await;
                continue;
            }
            let audience = self.audience();
            for frame in frames {
                if self.forward_packet(&audience, &frame) {
                    self.counters
                        .packet_ins_sent
                        .fetch_add(1, Ordering::Relaxed);
                } else {
                    self.counters
                        .packet_ins_dropped
                        .fetch_add(1, Ordering::Relaxed);
                    packet_ins.lose(frame.len());
                }
            }
            tokio::task::yield_now().await;
        }
    }

    /// Gives a packet to its receivers; whether one of them had room.
    fn forward_packet(&self, audience: &Audience, frame: &[u8]) -> bool {
        let Some(loaded) = audience
            .loaded
            .as_ref()
            .filter(|_| !audience.primaries.is_empty())
        else {
            return false;
        };
        let packet = match loaded.configuration.packet_in(frame) {
            Ok(packet) => packet,
            Err(refusal) => {
                tracing::warn!(target: "p4runtime", "{}", refusal.message);
                return false;
            }
        };
        let takers = audience.primaries.iter();
        let mut takers = takers
            .filter(|primary| primary.access.takes(&packet))
            .map(|primary| &primary.outbox)
            .peekable();
        if takers.peek().is_none() {
            return false;
        }
        let response = Bytes::from(packet.response());
        let taken = takers.filter(|outbox| outbox.offer(response.clone()));
        taken.count() > 0
    }

    /// Passes the program's messages and idle entries on, as long as it is polled.
    pub async fn forward_notifications(self: Arc<Self>) {
        let messages = lock(&self.node).digests();
        let arrived = Arc::new(Notify::new());
        let told = Arc::clone(&arrived);
        messages.set_listener(Some(Arc::new(move || told.notify_one())));
        let mut idle_looked = Instant::now();
        loop {
            let due = lock(&self.digests).as_ref().and_then(Digests::next_due_ns);
            let until_due = due.map_or(u64::MAX, |due| due.saturating_sub(self.now().monotonic_ns));
            let wait = Duration::from_nanos(until_due)
                .min(limits::IDLE_LOOK.saturating_sub(idle_looked.elapsed()));
            // The timer counts in milliseconds: a shorter wait would end early, over and over.
            let _ = tokio::time::timeout(wait, arrived.notified()).await;
            let audience = self.audience();
            let Some(loaded) = &audience.loaded else {
                let _ = messages.take(Duration::ZERO);
                idle_looked = Instant::now();
                continue;
            };
            let found = messages.take(Duration::ZERO);
            self.send_digests(&audience, loaded, found);
            if idle_looked.elapsed() >= limits::IDLE_LOOK {
                idle_looked = Instant::now();
                self.notify_idle(&audience, loaded);
            }
        }
    }

    fn send_digests(
        &self,
        audience: &Audience,
        loaded: &Arc<Loaded>,
        found: Vec<phb_pipeline::Digest>,
    ) {
        let named = if found.is_empty() {
            Vec::new()
        } else {
            let node = lock(&self.node);
            let lists = node.pipeline().map(phb_pipeline::Pipeline::digest_lists);
            let lists = lists.unwrap_or_default();
            // A message of a program that has been replaced meanwhile may have no list.
            let named = found.into_iter().filter_map(|message| {
                let list = lists.get(message.list as usize)?;
                Some((list.name.clone(), message.fields))
            });
            named.collect()
        };
        let lists = {
            let mut digests = lock(&self.digests);
            let digests = with_digests(&mut digests, loaded);
            let now = self.now();
            let mut lists = digests.add(named, now);
            lists.extend(digests.due(now));
            lists
        };
        for list in lists {
            let (id, messages) = (list.digest_id, list.data.len() as u64);
            let update = Some(StreamAnswer::Digest(list));
            let response = Bytes::from(StreamResponse { update }.encode_to_vec());
            let fitting = audience.primaries.iter();
            let fitting = fitting.filter(|primary| primary.access.has(id, &loaded.configuration));
            let taken = fitting.filter(|primary| primary.outbox.offer(response.clone()));
            let sent = taken.count() > 0;
            let counter = if sent {
                &self.counters.digests_sent
            } else {
                &self.counters.digests_dropped
            };
            counter.fetch_add(messages, Ordering::Relaxed);
        }
    }

    fn notify_idle(&self, audience: &Audience, loaded: &Loaded) {
        let idle = loaded.configuration.take_idle(&loaded.node());
        if idle.is_empty() {
            return;
        }
        for primary in &audience.primaries {
            let own = idle
                .iter()
                .filter(|(table, _)| primary.access.has(*table, &loaded.configuration));
            let entries: Vec<Bytes> = own.map(|(_, entry)| entry.clone().into()).collect();
            if entries.is_empty() {
                continue;
            }
            let notification = IdleTimeoutNotification {
                table_entry: entries,
                timestamp: crate::wall_ns(),
            };
            let update = Some(StreamAnswer::Idle(notification));
            if !primary
                .outbox
                .offer(StreamResponse { update }.encode_to_vec().into())
            {
                self.counters
                    .notifications_dropped
                    .fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}
