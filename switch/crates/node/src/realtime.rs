//! Runs a switch on packet sockets, by the monotonic clock.
//!
//! One thread waits for frames and for the switch's next tick. Each time it wakes it reads the clock once, takes the
//! switch's lock once, and moves up to [`BATCH`] frames per socket; sending happens outside the lock. A frame that the
//! kernel does not take is counted, never retried: the line's rate is the switch's business, not the socket's.
//!
//! The sockets are `AF_PACKET`/`SOCK_RAW`, non-blocking, bound, and have these options set (see packet(7)):
//! `PACKET_IGNORE_OUTGOING`; `PACKET_AUXDATA`, because the kernel takes VLAN tags out of frames; `PACKET_VNET_HDR`,
//! because a virtual interface leaves checksums to hardware that it does not have.

use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use nix::sys::time::TimeSpec;
use phb_network::{Frame, Node, Output, Port, Time};

use crate::offload::{self, VNET_HEADER};
use crate::switch::SwitchNode;

/// Frames taken from one socket before the others get their turn.
const BATCH: usize = 64;

/// The longest frame with segmentation offload, with room for its Ethernet header.
const LONGEST_FRAME: usize = (1 << 16) + 64;

/// What happened at one socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketStatistics {
    /// Reads that failed, for example because the interface went down.
    pub receive_errors: u64,
    /// Frames that the kernel did not take, for example because they exceed the interface's MTU.
    pub send_errors: u64,
    /// Frames refused because their sender left segmentation to hardware; turn its `tso` and `gso` off.
    pub unsegmented: u64,
}

#[derive(Default)]
struct Counters {
    receive_errors: AtomicU64,
    send_errors: AtomicU64,
    unsegmented: AtomicU64,
}

struct Socket {
    port: Port,
    descriptor: OwnedFd,
    counters: Counters,
}

struct Shared {
    switch: Arc<Mutex<SwitchNode>>,
    sockets: Vec<Socket>,
    stop: AtomicBool,
    wake: Arc<EventFd>,
    epoch: Instant,
    error: Mutex<Option<String>>,
}

/// A runner, with its thread while it runs.
pub struct RealTime {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl RealTime {
    /// A runner that does not run yet. Time 0 of the switch is now.
    ///
    /// # Errors
    /// Says why the kernel gave no event descriptor.
    pub fn new(
        switch: Arc<Mutex<SwitchNode>>,
        sockets: impl IntoIterator<Item = (Port, OwnedFd)>,
    ) -> std::io::Result<Self> {
        let wake =
            EventFd::from_value_and_flags(0, EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?;
        let sockets = sockets
            .into_iter()
            .map(|(port, descriptor)| Socket {
                port,
                descriptor,
                counters: Counters::default(),
            })
            .collect();
        let shared = Shared {
            switch,
            sockets,
            stop: AtomicBool::new(false),
            wake: Arc::new(wake),
            epoch: Instant::now(),
            error: Mutex::new(None),
        };
        Ok(Self {
            shared: Arc::new(shared),
            thread: None,
        })
    }

    /// Starts the thread. `false` if it runs already.
    ///
    /// # Errors
    /// Says why there is no thread.
    pub fn start(&mut self) -> std::io::Result<bool> {
        if self.is_running() {
            return Ok(false);
        }
        self.shared.stop.store(false, Ordering::Release);
        *lock(&self.shared.error) = None;
        let wake = Arc::clone(&self.shared.wake);
        lock(&self.shared.switch).set_waker(Some(Box::new(move || {
            // The counter is full only when the thread has been woken already.
            let _ = wake.write(1);
        })));
        let shared = Arc::clone(&self.shared);
        let name = format!("switch-{}", lock(&shared.switch).config().name);
        self.thread = Some(
            std::thread::Builder::new()
                .name(name)
                .spawn(move || shared.run())?,
        );
        Ok(true)
    }

    /// Stops the thread and waits for its end.
    pub fn stop(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.shared.stop.store(true, Ordering::Release);
        let _ = self.shared.wake.write(1);
        if thread.join().is_err() {
            *lock(&self.shared.error) = Some("the thread panicked".to_owned());
        }
        lock(&self.shared.switch).set_waker(None);
    }

    /// Whether the thread is there.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
    }

    /// Why the thread has ended by itself, if it has.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        lock(&self.shared.error).clone()
    }

    /// Counters by port, in the order in which the sockets were given.
    #[must_use]
    pub fn statistics(&self) -> Vec<(Port, SocketStatistics)> {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        self.shared
            .sockets
            .iter()
            .map(|Socket { port, counters, .. }| {
                let statistics = SocketStatistics {
                    receive_errors: load(&counters.receive_errors),
                    send_errors: load(&counters.send_errors),
                    unsegmented: load(&counters.unsegmented),
                };
                (*port, statistics)
            })
            .collect()
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        self.stop();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn run(&self) {
        if let Err(error) = self.serve() {
            *lock(&self.error) = Some(error.to_string());
        }
    }

    fn now(&self) -> Time {
        Time::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(Time::MAX)
    }

    fn serve(&self) -> Result<(), Errno> {
        let mut receiver = Receiver::new();
        let mut out = Output::new();
        let mut readable = vec![true; self.sockets.len()];
        while !self.stop.load(Ordering::Acquire) {
            let now = self.now();
            out.begin(now);
            let next_tick = {
                let mut switch = lock(&self.switch);
                switch.tick(now, &mut out);
                for (socket, readable) in self.sockets.iter().zip(&mut readable) {
                    if *readable {
                        *readable = receiver.receive_batch(now, socket, &mut switch, &mut out);
                    }
                }
                switch.next_tick()
            };
            for sent in out.drain() {
                self.send(sent.port, &sent.frame.bytes);
            }
            let busy = readable.iter().any(|readable| *readable);
            let timeout = if busy {
                Some(Duration::ZERO)
            } else {
                next_tick.map(|tick| Duration::from_nanos(tick.saturating_sub(self.now())))
            };
            self.wait(timeout, &mut readable)?;
        }
        Ok(())
    }

    /// Waits until a socket is readable, somebody wakes the thread, or the time is over.
    fn wait(&self, timeout: Option<Duration>, readable: &mut [bool]) -> Result<(), Errno> {
        let mut descriptors: Vec<PollFd> = self
            .sockets
            .iter()
            .map(|socket| PollFd::new(socket.descriptor.as_fd(), PollFlags::POLLIN))
            .collect();
        descriptors.push(PollFd::new(self.wake.as_fd(), PollFlags::POLLIN));
        match ppoll(&mut descriptors, timeout.map(TimeSpec::from_duration), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
        for (readable, descriptor) in readable.iter_mut().zip(&descriptors) {
            *readable |= descriptor.any().unwrap_or(true);
        }
        // Empties the event counter; it is empty already unless somebody has woken the thread.
        let _ = self.wake.read();
        Ok(())
    }

    fn send(&self, port: Port, frame: &[u8]) {
        let Some(socket) = self.sockets.iter().find(|socket| socket.port == port) else {
            return; // a port without an interface: its line leads nowhere
        };
        let parts = [IoSlice::new(&[0; VNET_HEADER]), IoSlice::new(frame)];
        let descriptor = socket.descriptor.as_raw_fd();
        if sendmsg::<()>(descriptor, &parts, &[], MsgFlags::MSG_DONTWAIT, None).is_err() {
            socket.counters.send_errors.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Buffers for receiving, allocated once.
struct Receiver {
    frame: Vec<u8>,
    control: Vec<u8>,
}

impl Receiver {
    fn new() -> Self {
        Self {
            frame: vec![0; VNET_HEADER + LONGEST_FRAME],
            control: nix::cmsg_space!([u8; offload::AUXILIARY_DATA]),
        }
    }

    /// Moves up to [`BATCH`] frames from the socket into the switch; `true` if there may be more.
    fn receive_batch(
        &mut self,
        now: Time,
        socket: &Socket,
        switch: &mut SwitchNode,
        out: &mut Output,
    ) -> bool {
        for _ in 0..BATCH {
            match self.receive(socket) {
                Ok(Some(frame)) => switch.receive(now, socket.port, Frame::new(frame), out),
                Ok(None) => {}
                Err(Errno::EAGAIN) => return false,
                Err(_) => {
                    socket
                        .counters
                        .receive_errors
                        .fetch_add(1, Ordering::Relaxed);
                    return false;
                }
            }
        }
        true
    }

    /// Takes one frame as it would look on a cable; `None` if it can not be had so.
    fn receive(&mut self, socket: &Socket) -> Result<Option<Vec<u8>>, Errno> {
        let mut parts = [IoSliceMut::new(&mut self.frame)];
        let descriptor = socket.descriptor.as_raw_fd();
        let message = recvmsg::<()>(
            descriptor,
            &mut parts,
            Some(&mut self.control),
            MsgFlags::MSG_DONTWAIT,
        )?;
        let tag = message.cmsgs()?.find_map(|control| match control {
            ControlMessageOwned::Unknown(unknown) => offload::vlan_tag(&unknown.data_bytes),
            _ => None,
        });
        let truncated = message.flags.contains(MsgFlags::MSG_TRUNC);
        let length = message.bytes;
        let frame = offload::finish(self.frame.get_mut(..length).unwrap_or_default(), tag);
        if truncated || frame.is_none() {
            socket.counters.unsegmented.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        }
        Ok(frame)
    }
}
