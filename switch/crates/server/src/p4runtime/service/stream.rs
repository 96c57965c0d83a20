//! A stream: arbitration, packet-outs, acknowledgements of digests.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use phb_p4runtime::{Code, Refusal};
use prost::Message;
use tonic::{Status, Streaming};

use super::super::configuration::none_yet;
use super::super::message::{
    DigestListAck, Inside, StreamAnswer, StreamError, StreamErrorDetails, StreamRequest,
    StreamResponse, StreamUpdate,
};
use super::super::outbox::{Outbox, Taking};
use super::{Opened, Service, decode, lock, with_digests};
use crate::authorization::{Permit, Result, refuse};
use crate::config::Manners;
use crate::connections::{Client, Kind, Usage};
use crate::limits;
use crate::wire::{Answer, Held, status, too_long};

impl Service {
    /// Arbitrates, and carries packets in both directions.
    pub fn stream(
        self: &Arc<Self>,
        permit: Permit,
        messages: Streaming<Bytes>,
        held: Held,
        usage: &Arc<Usage>,
        client: &Client,
    ) -> std::result::Result<Answer, Status> {
        permit
            .require(self.device_id, None, false)
            .map_err(status)?;
        let share = usage.take(client, Kind::Streams, 1);
        if share.is_err() && usage.in_all(Kind::Streams) >= limits::STREAMS {
            // Whoever has not arbitrated yet makes room for those who may.
            self.end_silent();
        }
        let share = share.map_err(Status::resource_exhausted)?;
        let outbox = Arc::new(Outbox::new(Arc::clone(&self.waiting_bytes)));
        let number = self.next_stream.fetch_add(1, Ordering::Relaxed);
        let opened = Opened {
            outbox: Arc::clone(&outbox),
            arbitrated: false,
        };
        lock(&self.streams).insert(number, opened);
        self.counters.streams.fetch_add(1, Ordering::Relaxed);
        let service = Arc::clone(self);
        let own = Arc::clone(&outbox);
        let reading = tokio::spawn(async move {
            let end = service
                .receive(number, &own, &permit, messages, &held)
                .await;
            own.end(end);
        });
        let service = Arc::clone(self);
        Ok(Box::pin(Taking::new(outbox, move || {
            reading.abort();
            lock(&service.streams).remove(&number);
            tokio::spawn(async move {
                let mut device = service.turn().await;
                device.arbitration.leave(number);
                service.publish(&device);
                drop(share);
            });
        })))
    }

    /// Ends the oldest stream that has not arbitrated.
    fn end_silent(&self) {
        let streams = lock(&self.streams);
        let silent = streams.values().find(|stream| !stream.arbitrated);
        if let Some(silent) = silent {
            silent.outbox.end(Err(Status::resource_exhausted(
                "the stream has not arbitrated, and others need its place",
            )));
        }
    }

    /// Reads a stream until it ends.
    async fn receive(
        &self,
        stream: u64,
        outbox: &Arc<Outbox>,
        permit: &Permit,
        mut messages: Streaming<Bytes>,
        held: &Held,
    ) -> std::result::Result<(), Status> {
        let mut arbitrated = false;
        loop {
            outbox.room().await;
            let next = if arbitrated {
                messages.message().await
            } else {
                match tokio::time::timeout(limits::SILENT_STREAM, messages.message()).await {
                    Ok(next) => next,
                    Err(_) => {
                        return Err(Status::deadline_exceeded(format!(
                            "the stream has not arbitrated within {} s",
                            limits::SILENT_STREAM.as_secs()
                        )));
                    }
                }
            };
            let message = match next {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(()),
                Err(status) if status.code() == tonic::Code::Cancelled => return Ok(()),
                Err(status) => return Err(too_long(status)),
            };
            held.give_back();
            let request: StreamRequest = decode(message)?;
            match request.update {
                Some(StreamUpdate::Arbitration(wanted)) => {
                    let name = wanted.role.as_ref().map_or("", |role| &role.name);
                    // Another device is not found, whoever asks.
                    if wanted.device_id == self.device_id {
                        let write = wanted.election_id.is_some();
                        permit
                            .require(wanted.device_id, Some(name), write)
                            .map_err(status)?;
                    }
                    let mut device = self.turn().await;
                    let done = device.arbitration.update(stream, outbox, permit, &wanted);
                    done.map_err(status)?;
                    self.publish(&device);
                    arbitrated = true;
                    if let Some(opened) = lock(&self.streams).get_mut(&stream) {
                        opened.arbitrated = true;
                    }
                }
                Some(StreamUpdate::Packet(packet)) => self.packet_out(stream, outbox, packet),
                Some(StreamUpdate::DigestAck(wanted)) => {
                    if let Err(refusal) = self.acknowledge(stream, &wanted) {
                        let message = Some(wanted.encode_to_vec().into());
                        let details = StreamErrorDetails::DigestListAck(Inside { message });
                        outbox.answer(stream_error(refusal, details), None);
                    }
                }
                Some(StreamUpdate::Other(message)) => {
                    let refusal = Refusal {
                        code: Code::Unimplemented,
                        message: "messages of kind 'other' are not supported".to_owned(),
                    };
                    let empty = StreamErrorDetails::Other(Inside { message: None });
                    let message = Some(message);
                    let details = StreamErrorDetails::Other(Inside { message });
                    let echo = stream_error(refusal.clone(), details);
                    outbox.answer(stream_error(refusal, empty), Some(echo));
                }
                None => {
                    let refusal = Refusal {
                        code: Code::InvalidArgument,
                        message: "the message is empty".to_owned(),
                    };
                    let details = StreamErrorDetails::Other(Inside { message: None });
                    outbox.answer(stream_error(refusal, details), None);
                }
            }
        }
    }

    fn packet_out(&self, stream: u64, outbox: &Outbox, packet: Bytes) {
        let Err(refusal) = self.send_packet(stream, &packet) else {
            self.counters.packet_outs.fetch_add(1, Ordering::Relaxed);
            return;
        };
        self.counters
            .packet_outs_refused
            .fetch_add(1, Ordering::Relaxed);
        if self.manners == Manners::Bmv2 && refusal.code == Code::PermissionDenied {
            return;
        }
        let empty = StreamErrorDetails::PacketOut(Inside { message: None });
        let message = Some(packet);
        let details = StreamErrorDetails::PacketOut(Inside { message });
        let echo = stream_error(refusal.clone(), details);
        outbox.answer(stream_error(refusal, empty), Some(echo));
    }

    fn send_packet(&self, stream: u64, packet: &[u8]) -> Result<()> {
        let audience = self.audience();
        let mut primaries = audience.primaries.iter();
        let Some(primary) = primaries.find(|primary| primary.stream == stream) else {
            return refuse(Code::PermissionDenied, "only a primary may send packets");
        };
        primary.access.require_packet_out(&primary.role)?;
        let Some(loaded) = &audience.loaded else {
            return none_yet();
        };
        let frame = loaded.configuration.packet_out(packet);
        let mut node = lock(&self.node);
        if node.config().cpu_port.is_none() {
            return refuse(Code::FailedPrecondition, "the switch has no CPU port");
        }
        let (waiting, bytes) = node.packet_outs_waiting();
        if waiting >= limits::PACKET_OUTS || bytes >= limits::PACKET_OUT_BYTES {
            return refuse(
                Code::ResourceExhausted,
                format!("{waiting} packet-outs of {bytes} bytes wait for the switch"),
            );
        }
        let _ = node.packet_out(frame?);
        Ok(())
    }

    fn acknowledge(&self, stream: u64, message: &DigestListAck) -> Result<()> {
        let audience = self.audience();
        if audience
            .primaries
            .iter()
            .all(|primary| primary.stream != stream)
        {
            return refuse(
                Code::PermissionDenied,
                "only a primary may acknowledge digests",
            );
        }
        let Some(loaded) = &audience.loaded else {
            return none_yet();
        };
        with_digests(&mut lock(&self.digests), loaded).acknowledge(message)
    }
}

fn stream_error(refusal: Refusal, details: StreamErrorDetails) -> Bytes {
    let error = StreamError {
        canonical_code: refusal.code as i32,
        message: refusal.message,
        details: Some(details),
    };
    let update = Some(StreamAnswer::Error(error));
    StreamResponse { update }.encode_to_vec().into()
}
