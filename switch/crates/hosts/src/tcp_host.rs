//! A host: demultiplexing, timers, and the actions of its scripts.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use phb_network::random::SplitMix64;
use phb_network::{Frame, Node, Output, Port, Time};
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::socket::tcp::State;
use smoltcp::wire::{HardwareAddress, IpCidr};

use crate::configuration::{ConfigError, HostConfig};
use crate::connection::{Connection, instant};
use crate::datagram::{self, Content, Segment};
use crate::device::Device;
use crate::frame::{Endpoints, Refusal};
use crate::script::{Script, Step};
use crate::stamp;
use crate::statistics::{Books, FlowStatistics, HostStatistics, Probe, Received, Transaction};
use crate::traffic::{Answers, Flow, Service};
use crate::udp::{self, Datagram};
use crate::{HOST_PORT, NETWORK_PORT};

mod client;
mod connections;
mod session;
mod timers;

use client::Client;
use connections::Connections;
use session::Session;
use timers::{Timer, Timers};

/// Lower ports are for services.
const FIRST_EPHEMERAL_PORT: u16 = 1024;
/// 4.4BSD's ephemeral ports are 1024 to 5000; hosts use higher ones when these run out.
const LAST_STARTING_PORT: u16 = 5000;

/// The next ephemeral port, cyclically.
fn following(port: u16) -> u16 {
    port.checked_add(1).unwrap_or(FIRST_EPHEMERAL_PORT)
}

/// A host with TCP (smoltcp, Reno) and UDP, with one port.
///
/// A datagram goes to its connection, by its four addresses and ports, and only otherwise to a
/// listening service: a repeated SYN can't disturb a live connection, and an event's cost does not
/// grow with the connections. A client keeps connections in TIME-WAIT.
pub struct TcpHost {
    config: HostConfig,
    interface: Interface,
    device: Device,
    /// An empty set for segments without a connection: smoltcp answers them with a reset.
    nobody: SocketSet<'static>,
    connections: Connections,
    services: HashMap<(Ipv4Addr, u16), Service>,
    /// By their two ends.
    datagram_sinks: HashMap<Endpoints, udp::Sink>,
    reflectors: HashMap<(Ipv4Addr, u16), stamp::Reflector>,
    /// Clients that wait for test packets, by their ends.
    stamp_sessions: HashMap<Endpoints, usize>,
    clients: Vec<Client>,
    timers: Timers,
    /// Connections that have taken segments of a batch and not answered yet.
    batch: Vec<usize>,
    next_port: u16,
    next_datagram_port: u16,
    books: Books,
}

impl TcpHost {
    /// A host without services and clients.
    pub fn new(config: HostConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let mut random = SplitMix64::new(config.seed);
        let mut device = Device::new(config.mtu_bytes);
        let mut options = Config::new(HardwareAddress::Ip);
        options.random_seed = random.next_u64();
        let mut interface = Interface::new(options, &mut device, instant(0));
        interface.update_ip_addrs(|list| {
            for address in &config.addresses {
                // Both limits are eight addresses.
                let _ = list.push(IpCidr::new((*address).into(), 32));
            }
        });
        // smoltcp sends only by a route; without neighbours any will do.
        let _ = interface
            .routes_mut()
            .add_default_ipv4_route(config.addresses[0]);
        let starting_ports = u64::from(LAST_STARTING_PORT - FIRST_EPHEMERAL_PORT) + 1;
        let offset = u16::try_from(random.below(starting_ports)).unwrap_or(0);
        Ok(Self {
            next_port: FIRST_EPHEMERAL_PORT + offset,
            next_datagram_port: FIRST_EPHEMERAL_PORT + offset,
            config,
            interface,
            device,
            nobody: SocketSet::new(Vec::new()),
            connections: Connections::default(),
            services: HashMap::new(),
            datagram_sinks: HashMap::new(),
            reflectors: HashMap::new(),
            stamp_sessions: HashMap::new(),
            clients: Vec::new(),
            timers: Timers::default(),
            batch: Vec::new(),
            books: Books::default(),
        })
    }

    /// The parameters.
    #[must_use]
    pub fn config(&self) -> &HostConfig {
        &self.config
    }

    /// Adds a server; an equal one may be added again. An error names its parameter: the address is
    /// not the host's, or another service has the port.
    pub fn add_service(&mut self, service: Service) -> Result<(), ConfigError> {
        service.check()?;
        self.check_own("server_address", service.address)?;
        let key = (service.address, service.port);
        if self
            .services
            .get(&key)
            .is_some_and(|other| *other != service)
        {
            let message = format!(
                "{}:{} has a service with other parameters",
                service.address, service.port
            );
            return Err(ConfigError::new("server_port", message));
        }
        self.services.insert(key, service);
        Ok(())
    }

    /// Adds a server for one client's stream; gives the number of its sink on this host. An error
    /// names its parameter: the address is not the host's, or a service has the port.
    pub fn add_stream_sink(
        &mut self,
        address: Ipv4Addr,
        port: u16,
        tos: Option<u8>,
    ) -> Result<usize, ConfigError> {
        let sink = self.books.sinks.len();
        let answers = Answers::Stream { sink };
        self.add_service(Service {
            address,
            port,
            tos,
            answers,
        })?;
        self.books.sinks.push(Received::default());
        Ok(sink)
    }

    /// Adds a sink for datagrams of one sender (address and port) on one of the host's addresses
    /// and a port; gives its number on this host. An error names its parameter: the address is not
    /// the host's, or this sink exists already.
    pub fn add_datagram_sink(
        &mut self,
        address: Ipv4Addr,
        port: u16,
        sender: (Ipv4Addr, u16),
    ) -> Result<usize, ConfigError> {
        self.check_own("server_address", address)?;
        let endpoints = Endpoints {
            local: address,
            local_port: port,
            remote: sender.0,
            remote_port: sender.1,
        };
        let number = self.books.sinks.len();
        if self.datagram_sinks.contains_key(&endpoints) {
            let message = format!("{address}:{port} has a sink for {}:{}", sender.0, sender.1);
            return Err(ConfigError::new("server_port", message));
        }
        self.datagram_sinks
            .insert(endpoints, udp::Sink::new(number));
        self.books.sinks.push(Received::default());
        Ok(number)
    }

    /// Adds a reflector of test packets (STAMP); it may be added again. An error names its
    /// parameter: the address is not the host's.
    pub fn add_reflector(&mut self, address: Ipv4Addr, port: u16) -> Result<(), ConfigError> {
        self.check_own("server_address", address)?;
        self.reflectors.entry((address, port)).or_default();
        Ok(())
    }

    /// Adds a client; gives its number on this host.
    pub fn add_flow(&mut self, flow: Flow) -> Result<usize, ConfigError> {
        flow.check(self.config.mtu_bytes)?;
        self.check_own("client_address", flow.ends.client_address)?;
        let number = self.clients.len();
        let client = Client::new(flow, self.next_datagram_port, &self.config);
        if client.is_udp() {
            self.next_datagram_port = following(self.next_datagram_port);
        }
        if let Some(session) = &client.stamps {
            self.stamp_sessions.insert(session.endpoints(), number);
        }
        if let Some(at) = client.first() {
            self.timers.add(at, Timer::Client(number));
        }
        self.clients.push(client);
        self.books.flows.push(FlowStatistics::default());
        Ok(number)
    }

    /// The source port of the next client that sends datagrams.
    #[must_use]
    pub fn next_datagram_port(&self) -> u16 {
        self.next_datagram_port
    }

    /// Test packets of a client that came back, in order of return; none of other traffic.
    #[must_use]
    pub fn probes(&self, client: usize) -> &[Probe] {
        let session = self
            .clients
            .get(client)
            .and_then(|each| each.stamps.as_ref());
        session.map_or(&[], |session| &session.probes)
    }

    fn check_own(&self, parameter: &'static str, address: Ipv4Addr) -> Result<(), ConfigError> {
        if self.config.addresses.contains(&address) {
            return Ok(());
        }
        Err(ConfigError::new(
            parameter,
            format!("{address} is not one of the host's addresses"),
        ))
    }

    /// Completed transactions of all clients, in order of their ends.
    #[must_use]
    pub fn transactions(&self) -> &[Transaction] {
        &self.books.transactions
    }

    /// Delivery at a sink.
    #[must_use]
    pub fn received(&self, sink: usize) -> Option<&Received> {
        self.books.sinks.get(sink)
    }

    /// The counters.
    #[must_use]
    pub fn statistics(&self) -> HostStatistics {
        HostStatistics {
            connections_open: self.connections.count(),
            ..self.books.host
        }
    }

    /// Counters of each client, by number.
    #[must_use]
    pub fn flow_statistics(&self) -> &[FlowStatistics] {
        &self.books.flows
    }

    fn start(&mut self, number: usize, now: Time, out: &mut Output) {
        if self.clients[number].is_udp() {
            self.send_datagram(number, now, out);
        } else {
            self.open(number, now, out);
        }
    }

    fn send_datagram(&mut self, number: usize, now: Time, out: &mut Output) {
        let client = &mut self.clients[number];
        if client.is_over(now) {
            return;
        }
        let (frame, bytes, next) = match (&mut client.datagrams, &mut client.stamps) {
            (Some(source), _) => {
                let frame = source.frame(now, out.buffer());
                (frame, source.payload_bytes(), source.next(now))
            }
            (None, Some(session)) => {
                let frame = session.frame(now, out.buffer());
                (frame, session.payload_bytes(), session.next(now))
            }
            (None, None) => return,
        };
        self.books.flows[number].packets_sent += 1;
        self.books.flows[number].bytes_sent += bytes;
        self.books.host.frames_sent += 1;
        out.send(now, HOST_PORT, frame);
        self.timers.add(next, Timer::Client(number));
    }

    fn open(&mut self, number: usize, now: Time, out: &mut Output) {
        let client = &self.clients[number];
        if client.is_over(now) {
            return;
        }
        let done = &self.books.flows[number];
        let Some(script) = Script::of_client(number, &client.flow, done) else {
            return;
        };
        let tos = client.flow.ends.tos;
        let endpoints = client.endpoints(0);
        let opened = self.free_port(endpoints).and_then(|endpoints| {
            let mut connection = Connection::new(endpoints, &self.config, tos, script);
            connection
                .connect(&mut self.interface)
                .then_some(connection)
        });
        self.books.flows[number].connections += 1;
        self.books.host.connections_opened += 1;
        match opened {
            Some(connection) => {
                let slot = self.connections.insert(connection);
                self.run(slot, now, out);
            }
            None => self.fail(Some(number), now), // every port to this server is in use
        }
    }

    /// Gives the client's endpoints the next ephemeral port that no connection uses.
    fn free_port(&mut self, mut endpoints: Endpoints) -> Option<Endpoints> {
        for _ in FIRST_EPHEMERAL_PORT..=u16::MAX {
            endpoints.local_port = self.next_port;
            self.next_port = following(self.next_port);
            let serves = self
                .services
                .contains_key(&(endpoints.local, endpoints.local_port));
            if !serves && self.connections.find(&endpoints).is_none() {
                return Some(endpoints);
            }
        }
        None
    }

    /// Makes the connection of a SYN, if a service listens. It replaces one in TIME-WAIT, which a
    /// peer that reuses its port may end early (RFC 9293, section 3.6.1).
    fn accept(&mut self, segment: &Segment) -> Option<usize> {
        let endpoints = segment.endpoints;
        let service = self
            .services
            .get(&(endpoints.local, endpoints.local_port))?;
        let script = Script::of_server(service, self.config.relays);
        let mut connection = Connection::new(endpoints, &self.config, service.tos, script);
        if !connection.listen() {
            return None;
        }
        self.books.host.connections_accepted += 1;
        Some(self.connections.insert(connection))
    }

    fn lookup(&mut self, segment: &Segment) -> Option<usize> {
        let Some(slot) = self.connections.find(&segment.endpoints) else {
            return segment.opens.then(|| self.accept(segment)).flatten();
        };
        let state = |connection: &mut Connection| connection.state();
        if segment.opens && self.connections.at(slot).map(state) == Some(State::TimeWait) {
            self.connections.remove(slot, &segment.endpoints);
            return self.accept(segment);
        }
        Some(slot)
    }

    /// Takes the device's segment, if any, runs the script, sends, and sets the timer.
    fn run(&mut self, slot: usize, now: Time, out: &mut Output) {
        let Some(mut connection) = self.connections.take(slot) else {
            return;
        };
        connection.take_segment(now, &mut self.interface, &mut self.device);
        let (socket, script) = connection.parts();
        let step = script.step(now, socket, &mut self.books);
        let flow = script.flow();
        if step != Step::Waits {
            connection.script = Script::Over;
        }
        if let Script::Server(server) = &mut connection.script
            && let Some(length) = server.relayed()
        {
            let port = connection.endpoints.remote_port;
            let request = Session { slot, port }.request(out.buffer(), length);
            out.send(now, NETWORK_PORT, request);
        }
        connection.send_segments(now, &mut self.interface, &mut self.device);
        self.flush(Some(&mut *connection), now, out);

        // A server's socket listens again when its peer takes back a SYN; the connection is gone.
        if matches!(connection.state(), State::Closed | State::Listen) {
            self.connections.remove(slot, &connection.endpoints);
        } else {
            self.arm(slot, &mut connection, now);
            self.connections.put(slot, connection);
        }
        match (step, flow) {
            (Step::Ended, Some(number)) => self.go_on(number, now, out),
            (Step::Failed, flow) => self.fail(flow, now),
            _ => {}
        }
    }

    /// Replies to the request that an SNA application has answered, if its connection still exists.
    fn take_answer(&mut self, now: Time, frame: &Frame, out: &mut Output) {
        let Some(Session { slot, port }) = Session::answered(frame) else {
            return;
        };
        let connection = self.connections.at(slot);
        let Some(connection) = connection.filter(|c| c.endpoints.remote_port == port) else {
            return;
        };
        if let Script::Server(server) = &mut connection.script {
            server.answer();
            self.run(slot, now, out);
        }
    }

    /// Gives a connection the device's segment; it answers with the rest of the batch.
    fn take(&mut self, slot: usize, now: Time, out: &mut Output) {
        let Some(connection) = self.connections.at(slot) else {
            return;
        };
        connection.take_segment(now, &mut self.interface, &mut self.device);
        self.flush(None, now, out);
        if self.batch.is_empty() {
            self.timers.add(now, Timer::Batch);
        }
        if !self.batch.contains(&slot) {
            self.batch.push(slot);
        }
    }

    /// Opens a client's next connection, now or when it has something to send.
    fn go_on(&mut self, number: usize, now: Time, out: &mut Output) {
        let answered = self.books.flows[number].transactions;
        match self.clients[number].next_opening(answered, now) {
            Some(at) if at > now => self.timers.add(at, Timer::Client(number)),
            Some(_) => self.open(number, now, out),
            None => {}
        }
    }

    fn fail(&mut self, flow: Option<usize>, now: Time) {
        self.books.host.connections_failed += 1;
        if let Some(number) = flow {
            self.books.flows[number].failures += 1;
            let again = now.saturating_add(self.config.reconnect_delay_ns);
            self.timers.add(again, Timer::Client(number));
        }
    }

    fn arm(&mut self, slot: usize, connection: &mut Connection, now: Time) {
        let Some(due) = connection.due(now, &mut self.interface) else {
            return;
        };
        // A timer that moved back stays in the queue; it will only set the next one.
        if connection.armed.is_none_or(|armed| due < armed) {
            connection.armed = Some(due);
            self.timers.add(due, Timer::Connection(slot));
        }
    }

    /// Sends a test packet back, or takes one that is back.
    fn take_test_packet(&mut self, now: Time, ends: Endpoints, frame: &[u8], out: &mut Output) {
        let is_taken =
            if let Some(reflector) = self.reflectors.get_mut(&(ends.local, ends.local_port)) {
                let reply = reflector.reply(now, frame, ends, &self.config);
                let is_taken = reply.is_some();
                if let Some(reply) = reply {
                    self.books.host.frames_sent += 1;
                    out.send(now, HOST_PORT, reply);
                }
                is_taken
            } else if let Some(number) = self.stamp_sessions.get(&ends) {
                let session = self.clients[*number].stamps.as_mut();
                session.is_some_and(|session| session.take(now, frame))
            } else {
                return Refusal::NoListener.count(&mut self.books.host);
            };
        if is_taken {
            self.books.host.datagrams_received += 1;
        } else {
            Refusal::Malformed.count(&mut self.books.host);
        }
    }

    fn take_datagram(&mut self, now: Time, datagram: &Datagram, frame: &[u8], out: &mut Output) {
        let Some(sink) = self.datagram_sinks.get_mut(&datagram.endpoints) else {
            return self.take_test_packet(now, datagram.endpoints, frame, out);
        };
        let Some(stamp) = datagram.stamp.filter(|stamp| stamp.sent <= now) else {
            return Refusal::Malformed.count(&mut self.books.host);
        };
        self.books.host.datagrams_received += 1;
        if sink.is_new(stamp.sequence) {
            let received = &mut self.books.sinks[sink.number];
            received.packets += 1;
            received.delays.push((now, now - stamp.sent));
            received.add(now, datagram.payload_bytes);
        }
    }

    /// Sends the device's frames.
    fn flush(&mut self, mut connection: Option<&mut Connection>, now: Time, out: &mut Output) {
        let tos = connection
            .as_deref()
            .map_or(self.config.tos, |connection| connection.tos);
        for mut frame in self.device.outgoing.drain(..) {
            let Some(segment) = datagram::finish(&mut frame, &self.config, tos) else {
                continue;
            };
            self.books.host.frames_sent += 1;
            self.books.host.resets_sent += u64::from(segment.resets);
            if let Some(connection) = connection.as_deref_mut() {
                let again = connection.is_retransmission(segment.sequence);
                self.books.host.segments_retransmitted += u64::from(again);
            }
            out.send(now, HOST_PORT, Frame::new(frame));
        }
    }
}

impl Node for TcpHost {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        if port == NETWORK_PORT {
            self.take_answer(now, &frame, out);
            return out.recycle(frame);
        }
        self.books.host.frames_received += 1;
        let segment = match datagram::accept(&frame.bytes, &self.config) {
            Ok(Content::Segment(segment)) => segment,
            Ok(Content::Datagram(datagram)) => {
                self.take_datagram(now, &datagram, &frame.bytes, out);
                return out.recycle(frame);
            }
            Err(refusal) => return refusal.count(&mut self.books.host),
        };
        self.books.host.segments_received += 1;
        self.books.host.resets_received += u64::from(segment.resets);
        self.device.give(frame.bytes);
        if let Some(slot) = self.lookup(&segment) {
            if self.config.batches {
                self.take(slot, now, out);
            } else {
                self.run(slot, now, out);
            }
        } else {
            self.interface
                .poll_ingress_single(instant(now), &mut self.device, &mut self.nobody);
            self.flush(None, now, out);
        }
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        while let Some((due, timer)) = self.timers.take(now) {
            match timer {
                Timer::Client(number) => self.start(number, now, out),
                Timer::Batch => {
                    for slot in std::mem::take(&mut self.batch) {
                        self.run(slot, now, out);
                    }
                }
                Timer::Connection(slot) => {
                    let connection = self.connections.at(slot);
                    if let Some(connection) = connection.filter(|c| c.armed == Some(due)) {
                        connection.armed = None;
                        self.run(slot, now, out);
                    }
                }
            }
        }
    }

    fn next_tick(&self) -> Option<Time> {
        self.timers.due()
    }
}

#[cfg(test)]
mod tests;
