//! A stream: arbitration, packet-outs, acknowledgements of digests.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use phb_p4runtime::{Code, Refusal};
use prost::Message;
use tonic::{Status, Streaming};

use super::super::configuration::none_yet;
use super::super::message::{
    Arbitration, DigestListAck, Inside, StreamAnswer, StreamError, StreamErrorDetails,
    StreamRequest, StreamResponse, StreamUpdate,
};
use super::super::outbox::{Outbox, Taking};
use super::{Opened, Service, decode, lock, with_digests};
use crate::authorization::{Permit, Result, refuse};
use crate::config::Manners;
use crate::connections::{Client, Kind, Usage};
use crate::limits;
use crate::wire::{Answer, Held, status, too_long};

impl Service {
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
            // A stream that has not arbitrated makes room for another.
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

    fn end_silent(&self) {
        let streams = lock(&self.streams);
        let silent = streams.values().find(|stream| !stream.arbitrated);
        if let Some(silent) = silent {
            silent.outbox.end(Err(Status::resource_exhausted(
                "the stream has not arbitrated, and others need its place",
            )));
        }
    }

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
            let Some(message) = next(&mut messages, arbitrated).await? else {
                return Ok(());
            };
            held.give_back();
            let request: StreamRequest = decode(message)?;
            match request.update {
                Some(StreamUpdate::Arbitration(wanted)) => {
                    self.arbitrate(stream, outbox, permit, &wanted).await?;
                    arbitrated = true;
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
                    answer_with_echo(outbox, refusal, message, StreamErrorDetails::Other);
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

    async fn arbitrate(
        &self,
        stream: u64,
        outbox: &Arc<Outbox>,
        permit: &Permit,
        wanted: &Arbitration,
    ) -> std::result::Result<(), Status> {
        let name = wanted.role.as_ref().map_or("", |role| &role.name);
        // For another device the answer is "not found", whatever the client's rights.
        if wanted.device_id == self.device_id {
            let write = wanted.election_id.is_some();
            permit
                .require(wanted.device_id, Some(name), write)
                .map_err(status)?;
        }
        let mut device = self.turn().await;
        let done = device.arbitration.update(stream, outbox, permit, wanted);
        done.map_err(status)?;
        self.publish(&device);
        if let Some(opened) = lock(&self.streams).get_mut(&stream) {
            opened.arbitrated = true;
        }
        Ok(())
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
        answer_with_echo(outbox, refusal, packet, StreamErrorDetails::PacketOut);
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

/// The next message; none at the stream's end. A stream that has not arbitrated has to speak in time.
async fn next(
    messages: &mut Streaming<Bytes>,
    arbitrated: bool,
) -> std::result::Result<Option<Bytes>, Status> {
    let next = if arbitrated {
        messages.message().await
    } else {
        let in_time = tokio::time::timeout(limits::SILENT_STREAM, messages.message()).await;
        in_time.map_err(|_| {
            Status::deadline_exceeded(format!(
                "the stream has not arbitrated within {} s",
                limits::SILENT_STREAM.as_secs()
            ))
        })?
    };
    match next {
        Err(status) if status.code() == tonic::Code::Cancelled => Ok(None),
        next => next.map_err(too_long),
    }
}

/// Answers with a refusal, and the refused message where there is room for it.
fn answer_with_echo(
    outbox: &Outbox,
    refusal: Refusal,
    message: Bytes,
    details: impl Fn(Inside) -> StreamErrorDetails,
) {
    let empty = details(Inside { message: None });
    let message = Some(message);
    let echo = stream_error(refusal.clone(), details(Inside { message }));
    outbox.answer(stream_error(refusal, empty), Some(echo));
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
