//! A TCP connection: a smoltcp socket and the script that runs on it.

use phb_network::Time;
use smoltcp::iface::{Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::{Duration, Instant};

use crate::configuration::HostConfig;
use crate::device::Device;
use crate::frame::Endpoints;
use crate::script::Script;

/// smoltcp counts in microseconds.
pub(crate) const NANOSECONDS_PER_MICROSECOND: Time = 1_000;

/// The microsecond that contains `now` (ns), rounded down: smoltcp must not see a future time.
pub(crate) fn instant(now: Time) -> Instant {
    Instant::from_micros(i64::try_from(now / NANOSECONDS_PER_MICROSECOND).unwrap_or(i64::MAX))
}

/// Whole microseconds, rounded up: no timer fires early.
fn duration(time: Time) -> Duration {
    Duration::from_micros(time.div_ceil(NANOSECONDS_PER_MICROSECOND))
}

pub(crate) struct Connection {
    pub endpoints: Endpoints,
    pub script: Script,
    pub tos: u8,
    /// Its earliest timer in the host's queue; timers at other times are stale.
    pub armed: Option<Time>,
    /// Sequence number after the highest one sent.
    sent_up_to: Option<u32>,
    // In a set of its own, because smoltcp looks at every socket of a set for every segment.
    set: SocketSet<'static>,
    handle: SocketHandle,
}

impl Connection {
    /// Makes a new socket: a used one keeps its congestion window.
    pub fn new(endpoints: Endpoints, host: &HostConfig, tos: Option<u8>, script: Script) -> Self {
        let receive = SocketBuffer::new(vec![0; host.window_bytes]);
        let send = SocketBuffer::new(vec![0; host.window_bytes]);
        let mut socket = Socket::new(receive, send);
        socket.set_congestion_control(CongestionControl::Reno);
        socket.set_nagle_enabled(host.nagle);
        socket.set_ack_delay(host.delayed_ack_ns.map(duration));
        socket.set_hop_limit(Some(host.ttl));
        socket.set_timeout(host.user_timeout_ns.map(duration));
        let mut set = SocketSet::new(Vec::with_capacity(1));
        let handle = set.add(socket);
        Self {
            endpoints,
            script,
            tos: tos.unwrap_or(host.tos),
            armed: None,
            sent_up_to: None,
            set,
            handle,
        }
    }

    pub fn parts(&mut self) -> (&mut Socket<'static>, &mut Script) {
        (self.set.get_mut(self.handle), &mut self.script)
    }

    /// Listens for the SYN that is given next.
    pub fn listen(&mut self) -> bool {
        let local = (self.endpoints.local, self.endpoints.local_port);
        self.parts().0.listen(local).is_ok()
    }

    pub fn connect(&mut self, interface: &mut Interface) -> bool {
        let remote = (self.endpoints.remote, self.endpoints.remote_port);
        let local = (self.endpoints.local, self.endpoints.local_port);
        self.parts()
            .0
            .connect(interface.context(), remote, local)
            .is_ok()
    }

    pub fn state(&self) -> State {
        self.set.get::<Socket<'static>>(self.handle).state()
    }

    pub fn take_segment(&mut self, now: Time, interface: &mut Interface, device: &mut Device) {
        interface.poll_ingress_single(instant(now), device, &mut self.set);
    }

    pub fn send_segments(&mut self, now: Time, interface: &mut Interface, device: &mut Device) {
        loop {
            let before = device.outgoing.len();
            interface.poll_egress(instant(now), device, &mut self.set);
            if device.outgoing.len() == before {
                return;
            }
        }
    }

    /// When TCP or the script goes on, in ns. Never `now`: everything possible has been done, and
    /// smoltcp says "now" also where it will not send.
    pub fn due(&self, now: Time, interface: &mut Interface) -> Option<Time> {
        let instant = interface.poll_at(instant(now), &self.set);
        let tcp = instant.map(|at| {
            let at = u64::try_from(at.total_micros())
                .unwrap_or(0)
                .saturating_mul(NANOSECONDS_PER_MICROSECOND);
            let next =
                (now / NANOSECONDS_PER_MICROSECOND + 1).saturating_mul(NANOSECONDS_PER_MICROSECOND);
            at.max(next)
        });
        match (tcp, self.script.due()) {
            (Some(tcp), Some(script)) => Some(tcp.min(script)),
            (tcp, script) => tcp.or(script),
        }
    }

    /// Notes the sequence numbers of a sent segment; `true` if all of them were sent before.
    pub fn is_retransmission(&mut self, sequence: (u32, u32)) -> bool {
        let (first, after) = sequence;
        if first == after {
            return false;
        }
        // Sequence numbers are compared modulo 2^32 (RFC 9293, section 3.4).
        let is_new = self
            .sent_up_to
            .is_none_or(|high| after.wrapping_sub(high).cast_signed() > 0);
        if is_new {
            self.sent_up_to = Some(after);
        }
        !is_new
    }
}
