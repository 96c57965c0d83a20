//! Notifications to subscribers, as nanomsg's PUB sends them over a Unix socket: what programs learn.
//!
//! The protocol has eight bytes at the beginning, each way, and a length before each message. A subscriber that doesn't
//! take its messages misses them.

use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use phb_node::Digests;
use phb_pipeline::Digest;

use crate::call::{Services, lock};
use crate::learning::Buffer;
use crate::limits;

/// The beginning of a PUB, whose number in the protocol is 32; a SUB's has 33 there.
const PUBLISHER: [u8; 8] = [0, b'S', b'P', 0, 0, 32, 0, 0];
const SUBSCRIBER: [u8; 8] = [0, b'S', b'P', 0, 0, 33, 0, 0];

/// How long a subscriber has to say that it is one.
const GREETING: Duration = Duration::from_secs(1);

/// How often to look whether to stop.
const LOOK: Duration = Duration::from_millis(500);

/// A publisher, until it is dropped.
pub struct Notifications {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    path: PathBuf,
    digests: Arc<Digests>,
    subscribers: Mutex<Vec<UnixStream>>,
    stopping: AtomicBool,
}

impl Notifications {
    /// Starts publishing at a path, which is made.
    ///
    /// # Errors
    /// If it can't listen there, or there are no threads.
    pub fn start(path: &Path, services: Arc<Services>) -> io::Result<Self> {
        let stale =
            std::fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket());
        if stale && UnixStream::connect(path).is_err() {
            std::fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        let digests = services.node().digests();
        digests.follow(true);
        let shared = Arc::new(Shared {
            path: path.to_owned(),
            digests,
            subscribers: Mutex::default(),
            stopping: AtomicBool::new(false),
        });
        let (accepting, publishing) = (Arc::clone(&shared), Arc::clone(&shared));
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let mut all = Self {
            shared,
            threads: Vec::new(),
        };
        let accept = named("subscribers").spawn(move || accepting.accept(&listener))?;
        all.threads.push(accept);
        let publish = named("notifications").spawn(move || publishing.publish(&services))?;
        all.threads.push(publish);
        Ok(all)
    }
}

impl Drop for Notifications {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        // Wakes the threads that wait for messages and for subscribers.
        self.shared.digests.follow(false);
        let _ = UnixStream::connect(&self.shared.path);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.shared.path);
    }
}

impl Shared {
    fn accept(&self, listener: &UnixListener) {
        for stream in listener.incoming() {
            if self.stopping.load(Ordering::Acquire) {
                return;
            }
            match stream.and_then(greeted) {
                Ok(stream) => {
                    let mut subscribers = lock(&self.subscribers);
                    if subscribers.len() < limits::SUBSCRIBERS {
                        subscribers.push(stream);
                    }
                }
                Err(error) => {
                    tracing::debug!(target: "thrift", "no subscriber: {error}");
                    if error.kind() != io::ErrorKind::InvalidData {
                        std::thread::sleep(Duration::from_millis(50));
                    }
                }
            }
        }
    }

    fn publish(&self, services: &Services) {
        while !self.stopping.load(Ordering::Acquire) {
            let due = services.kept().learning.due();
            let wait = due.map_or(LOOK, |due| due.saturating_duration_since(Instant::now()));
            let learned = self.digests.take_followed(wait.min(LOOK));
            for buffer in services.learn(learned) {
                self.send(&message(&buffer, services.switch.device_id));
            }
        }
    }

    /// Sends a message to all who take it at once.
    fn send(&self, message: &[u8]) {
        let mut framed = vec![1];
        framed.extend((message.len() as u64).to_be_bytes());
        framed.extend(message);
        lock(&self.subscribers).retain_mut(|subscriber| match subscriber.write(&framed) {
            Ok(written) => written == framed.len(),
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        });
    }
}

/// A stream whose other end is a subscriber.
fn greeted(mut stream: UnixStream) -> io::Result<UnixStream> {
    stream.set_read_timeout(Some(GREETING))?;
    stream.write_all(&PUBLISHER)?;
    let mut greeting = [0; 8];
    stream.read_exact(&mut greeting)?;
    if greeting != SUBSCRIBER {
        return Err(io::ErrorKind::InvalidData.into());
    }
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// A header of 32 bytes in this machine's order, as bmv2's, and the samples.
fn message(buffer: &Buffer, device_id: u64) -> Vec<u8> {
    let mut message = b"LEA|".to_vec();
    message.extend(device_id.to_ne_bytes());
    message.extend(0_u32.to_ne_bytes());
    message.extend(buffer.list.to_ne_bytes());
    message.extend(buffer.id.to_ne_bytes());
    message.extend((buffer.samples.len() as u32).to_ne_bytes());
    message.extend(buffer.samples.iter().flatten());
    message
}

impl Services {
    /// Takes messages of the program; gives the buffers that are to be sent now.
    fn learn(&self, messages: Vec<Digest>) -> Vec<Buffer> {
        let lists = match self.node().pipeline() {
            Some(pipeline) => pipeline.digest_lists(),
            None => Vec::new(),
        };
        let now = Instant::now();
        let mut kept = self.kept();
        for message in messages {
            let list = lists.get(message.list as usize);
            if let Some(number) = list.and_then(|list| i32::try_from(list.id).ok()) {
                kept.learning.learn(number, message.fields.concat(), now);
            }
        }
        kept.learning.take(now)
    }
}
