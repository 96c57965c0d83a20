//! A bounded queue of messages to one stream.
//!
//! Packets and digests without room are dropped and counted. Without room for answers to its
//! messages a stream is not read. Of notifications about the primary only the last is kept then.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio_stream::Stream;
use tonic::Status;

use crate::limits;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// May be dropped.
    Told,
    /// Answers a message of the stream.
    Answer,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(Kind, Bytes)>,
    bytes: usize,
    answers: usize,
    answer_bytes: usize,
    /// The last notification about the primary, if there was no room.
    standing: Option<Bytes>,
    end: Option<Result<(), Status>>,
    taker: Option<Waker>,
    reader: Option<Waker>,
}

pub struct Outbox {
    state: Mutex<State>,
    in_all: Arc<AtomicUsize>,
}

impl Outbox {
    /// `in_all` counts the bytes that wait for all streams.
    pub fn new(in_all: Arc<AtomicUsize>) -> Self {
        Self {
            state: Mutex::default(),
            in_all,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, mut state: MutexGuard<'_, State>, kind: Kind, message: Bytes) {
        if state.end.is_some() {
            return;
        }
        self.in_all.fetch_add(message.len(), Ordering::Relaxed);
        state.bytes += message.len();
        if kind == Kind::Answer {
            state.answers += 1;
            state.answer_bytes += message.len();
        }
        state.waiting.push_back((kind, message));
        let taker = state.taker.take();
        drop(state);
        if let Some(taker) = taker {
            taker.wake();
        }
    }

    /// Adds a packet, a digest or the like; `false` if there is no room, or the stream has ended.
    pub fn offer(&self, message: Bytes) -> bool {
        let state = self.lock();
        let room = state.end.is_none()
            && state.waiting.len() < limits::WAITING
            && state.bytes + message.len() <= limits::WAITING_BYTES
            && self.in_all.load(Ordering::Relaxed) + message.len() <= limits::WAITING_BYTES_IN_ALL;
        if room {
            self.put(state, Kind::Told, message);
        }
        room
    }

    /// Adds an answer to the stream's own message: `with_echo` if it fits, else `message`.
    pub fn answer(&self, message: Bytes, with_echo: Option<Bytes>) {
        let in_all = self.in_all.load(Ordering::Relaxed);
        let message = with_echo
            .filter(|longer| in_all + longer.len() <= limits::WAITING_BYTES_IN_ALL)
            .unwrap_or(message);
        self.put(self.lock(), Kind::Answer, message);
    }

    pub fn tell_standing(&self, message: Bytes) {
        let mut state = self.lock();
        if state.answers < 2 * limits::ANSWERS && state.answer_bytes < 2 * limits::ANSWER_BYTES {
            self.put(state, Kind::Answer, message);
        } else {
            state.standing = Some(message);
        }
    }

    /// Resolves when the stream may be read again: when not too many answers wait.
    pub async fn room(&self) {
        std::future::poll_fn(|context| {
            let mut state = self.lock();
            let full =
                state.answers >= limits::ANSWERS || state.answer_bytes >= limits::ANSWER_BYTES;
            if full && state.end.is_none() {
                state.reader = Some(context.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Ends the stream after the waiting messages; the first end counts.
    pub fn end(&self, end: Result<(), Status>) {
        let mut state = self.lock();
        state.end.get_or_insert(end);
        let wakers = [state.taker.take(), state.reader.take()];
        drop(state);
        for waker in wakers.into_iter().flatten() {
            waker.wake();
        }
    }

    fn poll_take(&self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>> {
        let mut state = self.lock();
        if let Some((kind, message)) = state.waiting.pop_front() {
            self.in_all.fetch_sub(message.len(), Ordering::Relaxed);
            state.bytes -= message.len();
            if kind == Kind::Answer {
                state.answers -= 1;
                state.answer_bytes -= message.len();
            }
            if let Some(reader) = state.reader.take() {
                drop(state);
                reader.wake();
            }
            return Poll::Ready(Some(Ok(message)));
        }
        if let Some(standing) = state.standing.take() {
            return Poll::Ready(Some(Ok(standing)));
        }
        match &mut state.end {
            None => {
                state.taker = Some(context.waker().clone());
                Poll::Pending
            }
            Some(end) => Poll::Ready(std::mem::replace(end, Ok(())).err().map(Err)),
        }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        self.in_all.fetch_sub(self.lock().bytes, Ordering::Relaxed);
    }
}

/// The messages of an outbox as a stream; `on_drop` is called when it is dropped.
pub struct Taking {
    outbox: Arc<Outbox>,
    on_drop: Option<Box<dyn FnOnce() + Send>>,
}

impl Taking {
    pub fn new(outbox: Arc<Outbox>, on_drop: impl FnOnce() + Send + 'static) -> Self {
        Self {
            outbox,
            on_drop: Some(Box::new(on_drop)),
        }
    }
}

impl Stream for Taking {
    type Item = Result<Bytes, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.outbox.poll_take(context)
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        self.outbox.end(Ok(()));
        if let Some(on_drop) = self.on_drop.take() {
            on_drop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbox() -> (Outbox, Arc<AtomicUsize>) {
        let in_all = Arc::new(AtomicUsize::new(0));
        (Outbox::new(Arc::clone(&in_all)), in_all)
    }

    fn take(outbox: &Outbox) -> Option<Bytes> {
        let mut context = Context::from_waker(Waker::noop());
        match outbox.poll_take(&mut context) {
            Poll::Ready(Some(Ok(message))) => Some(message),
            _ => None,
        }
    }

    #[test]
    fn packets_beyond_the_limit_are_refused() {
        let (outbox, in_all) = outbox();
        assert!((0..limits::WAITING).all(|_| outbox.offer(Bytes::from_static(b"x"))));
        assert!(!outbox.offer(Bytes::from_static(b"x")));
        assert_eq!(take(&outbox), Some(Bytes::from_static(b"x")));
        assert!(outbox.offer(Bytes::from_static(b"x")));
        drop(outbox);
        assert_eq!(in_all.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn bytes_have_a_limit_too() {
        let (outbox, _) = outbox();
        let long = Bytes::from(vec![0; limits::WAITING_BYTES / 2]);
        assert!(outbox.offer(long.clone()) && outbox.offer(long.clone()));
        assert!(!outbox.offer(long));
    }

    #[test]
    fn with_too_many_answers_nothing_is_read() {
        let (outbox, _) = outbox();
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..limits::ANSWERS {
            let mut room = std::pin::pin!(outbox.room());
            assert!(room.as_mut().poll(&mut context).is_ready());
            outbox.answer(Bytes::from_static(b"no"), None);
        }
        let mut room = std::pin::pin!(outbox.room());
        assert!(room.as_mut().poll(&mut context).is_pending());
        assert!(take(&outbox).is_some());
        assert!(room.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn the_last_standing_is_told() {
        let (outbox, _) = outbox();
        for number in 0..1000_u32 {
            outbox.tell_standing(number.to_be_bytes().to_vec().into());
        }
        let mut last = None;
        let mut count = 0;
        while let Some(message) = take(&outbox) {
            (last, count) = (Some(message), count + 1);
        }
        assert_eq!(last.as_deref(), Some(&999_u32.to_be_bytes()[..]));
        assert_eq!(count, 2 * limits::ANSWERS + 1);
    }

    #[test]
    fn what_waits_is_told_before_the_end() {
        let (outbox, _) = outbox();
        outbox.answer(Bytes::from_static(b"x"), None);
        outbox.end(Err(Status::aborted("over")));
        outbox.end(Ok(()));
        assert!(take(&outbox).is_some());
        let mut context = Context::from_waker(Waker::noop());
        let Poll::Ready(Some(Err(status))) = outbox.poll_take(&mut context) else {
            panic!("expected the end");
        };
        assert_eq!(status.message(), "over");
        assert!(matches!(outbox.poll_take(&mut context), Poll::Ready(None)));
    }
}
