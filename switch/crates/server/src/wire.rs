//! gRPC with messages as bytes: handlers decode them after having checked the caller's rights.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use phb_p4runtime::Refusal;
use tokio_stream::{Stream, StreamExt};
use tonic::{Code, Request, Response, Status, Streaming};

use crate::codec::Raw;
use crate::connections::{Calling, Share};
use crate::limits;

pub type Answer = Pin<Box<dyn Stream<Item = Result<Bytes, Status>> + Send>>;

/// Calls report their errors as a status instead.
pub type Never = Infallible;

/// A handler as tonic takes it; it is called once.
struct Once<F>(Option<F>);

/// The response to a call, as HTTP has it.
pub type Responding = Pin<Box<dyn Future<Output = http::Response<tonic::body::Body>> + Send>>;

impl<F, Fut> tower_service::Service<Request<Streaming<Bytes>>> for Once<F>
where
    F: FnOnce(Streaming<Bytes>) -> Fut,
    Fut: Future<Output = Result<Answer, Status>> + Send + 'static,
{
    type Response = Response<Answer>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Status>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let Some(handler) = self.0.take() else {
            return Box::pin(async { Err(Status::internal("a call was made twice")) });
        };
        let answer = handler(request.into_inner());
        Box::pin(async move { answer.await.map(Response::new) })
    }
}

/// Serves a call by a handler. Messages longer than `most` bytes are refused by their headers.
pub fn serve<B, F, Fut>(request: http::Request<B>, most: usize, handler: F) -> Responding
where
    B: Body + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Send,
    F: FnOnce(Streaming<Bytes>) -> Fut + Send + 'static,
    Fut: Future<Output = Result<Answer, Status>> + Send + 'static,
{
    Box::pin(async move {
        let mut grpc = tonic::server::Grpc::new(Raw).max_decoding_message_size(most);
        grpc.streaming(Once(Some(handler)), request).await
    })
}

pub async fn only(mut messages: Streaming<Bytes>) -> Result<Bytes, Status> {
    match tokio::time::timeout(limits::ARRIVAL, messages.message()).await {
        Ok(Ok(Some(message))) => Ok(message),
        Ok(Ok(None)) => Err(Status::invalid_argument("the call has no message")),
        Ok(Err(status)) => Err(too_long(status)),
        Err(_) => Err(Status::deadline_exceeded(format!(
            "the request did not arrive within {} s",
            limits::ARRIVAL.as_secs()
        ))),
    }
}

/// The status of a message that passes a limit: gRPC's code for it is RESOURCE_EXHAUSTED.
pub fn too_long(status: Status) -> Status {
    match status.code() {
        Code::OutOfRange => Status::resource_exhausted(status.message()),
        _ => status,
    }
}

pub fn one(message: impl Into<Bytes>) -> Answer {
    Box::pin(tokio_stream::once(Ok(message.into())))
}

/// An answer that keeps something until it has been taken.
pub fn keeping<T: Send + Unpin + 'static>(answer: Answer, kept: T) -> Answer {
    Box::pin(answer.map(move |message| {
        let _ = &kept;
        message
    }))
}

pub fn status(refusal: Refusal) -> Status {
    Status::new(Code::from_i32(refusal.code as i32), refusal.message)
}

/// Memory held by the messages of one call; shared by the body, which takes it, and the handler, which gives it back.
#[derive(Clone)]
pub struct Held(Arc<Mutex<Share>>);

impl Held {
    /// Takes an empty share.
    pub fn new(share: Share) -> Self {
        Self(Arc::new(Mutex::new(share)))
    }

    /// Takes more, or refuses with RESOURCE_EXHAUSTED.
    pub fn grow(&self, bytes: usize) -> Result<(), Status> {
        let mut share = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        share.grow(bytes).map_err(Status::resource_exhausted)
    }

    /// Gives back what has been read so far.
    pub fn give_back(&self) {
        let mut share = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        share.give_back();
    }
}

/// The body of a request, whose bytes count as held.
pub struct Counted<B> {
    body: B,
    held: Held,
    count: Box<dyn Fn(usize) + Send>,
}

impl<B> Counted<B> {
    pub fn new(body: B, held: Held, count: impl Fn(usize) + Send + 'static) -> Self {
        Self {
            body,
            held,
            count: Box::new(count),
        }
    }
}

impl<B> Body for Counted<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(match frame {
            Some(Ok(frame)) => {
                let bytes = frame.data_ref().map_or(0, Bytes::len);
                (self.count)(bytes);
                match self.held.grow(bytes) {
                    Ok(()) => Some(Ok(frame)),
                    Err(status) => Some(Err(status.into())),
                }
            }
            Some(Err(error)) => Some(Err(error.into())),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of an answer; the call lasts until it is dropped.
pub struct Lasting {
    body: tonic::body::Body,
    count: Box<dyn Fn(usize) + Send>,
    call: Calling,
    /// Whether the answer has no deadline.
    is_stream: bool,
    _share: Option<Share>,
}

impl Lasting {
    pub fn new(
        body: tonic::body::Body,
        call: Calling,
        is_stream: bool,
        share: Option<Share>,
        count: impl Fn(usize) + Send + 'static,
    ) -> Self {
        Self {
            body,
            count: Box::new(count),
            call,
            is_stream,
            _share: share,
        }
    }
}

impl Body for Lasting {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if !self.is_stream {
            self.call.answers();
        }
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame {
            (self.count)(frame.data_ref().map_or(0, Bytes::len));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
