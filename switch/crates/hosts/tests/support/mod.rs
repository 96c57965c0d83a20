//! A small network to test hosts in: a client and a server on either side of a slow, lossy line.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard};

use phb_hosts::{
    Answers, CongestionControl, Ends, Flow, HOST_PORT, HostConfig, Service, TcpHost, Traffic,
};
use phb_network::random::SplitMix64;
use phb_network::{Frame, Node, Output, Port, Time, World};
use phb_traffic_manager::{PortConfig, PortQueue};

pub const SECOND: Time = 1_000_000_000;
pub const MILLISECOND: Time = 1_000_000;
pub const CLIENT: Ipv4Addr = Ipv4Addr::new(133, 10, 50, 2);
pub const SERVER: Ipv4Addr = Ipv4Addr::new(133, 10, 30, 1);
pub const CLIENT_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
pub const SERVER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// Two queues, one for each direction: rate, first come first served, tail drop, chance of loss.
pub struct Line {
    queues: [PortQueue<Frame, Frame>; 2],
    random: SplitMix64,
    loss_per_mille: u64,
    pub received: u64,
    pub sent: u64,
    pub lost: u64,
    pub tail_dropped: u64,
}

impl Line {
    pub fn new(rate_bps: u64, buffer_packets: usize, loss_per_mille: u64, seed: u64) -> Self {
        let config = PortConfig {
            rate_bps: Some(rate_bps),
            overhead_bytes: -7,
            buffer_packets,
            ..PortConfig::default()
        };
        Self {
            queues: [PortQueue::new(config.clone()), PortQueue::new(config)],
            random: SplitMix64::new(seed),
            loss_per_mille,
            received: 0,
            sent: 0,
            lost: 0,
            tail_dropped: 0,
        }
    }

    pub fn held(&self) -> u64 {
        self.queues.iter().map(|queue| queue.held() as u64).sum()
    }

    fn serve(&mut self, now: Time, out: &mut Output) {
        for (port, queue) in (0..).zip(&mut self.queues) {
            while let Some(frame) = queue.depart(now) {
                self.sent += 1;
                out.send(now, port, frame);
            }
            while let Some(queued) = queue.pop(now) {
                queue.transmit(now, queued.item.len(), queued.item);
            }
        }
    }
}

impl Node for Line {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.received += 1;
        self.serve(now, out);
        if self.random.below(1000) < self.loss_per_mille {
            self.lost += 1;
        } else if self.queues[usize::from(1 - port)]
            .enqueue(now, 0, frame)
            .is_err()
        {
            self.tail_dropped += 1;
        }
        self.serve(now, out);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        self.serve(now, out);
    }

    fn next_tick(&self) -> Option<Time> {
        self.queues
            .iter()
            .filter_map(PortQueue::next_departure)
            .min()
    }
}

pub fn host(address: Ipv4Addr, mac: [u8; 6], gateway_mac: [u8; 6], seed: u64) -> HostConfig {
    HostConfig {
        addresses: vec![address],
        mac: Some(mac),
        gateway_mac: Some(gateway_mac),
        mtu_bytes: 1500,
        window_bytes: 16_384,
        nagle: true,
        delayed_ack_ns: Some(200 * MILLISECOND),
        congestion_control: CongestionControl::Reno,
        tos: 0,
        ttl: 64,
        user_timeout_ns: None,
        batches: false,
        relays: false,
        reconnect_delay_ns: SECOND,
        number: 1,
        seed,
    }
}

pub fn client_config(seed: u64) -> HostConfig {
    host(CLIENT, CLIENT_MAC, SERVER_MAC, seed)
}

pub fn server_config(seed: u64) -> HostConfig {
    host(SERVER, SERVER_MAC, CLIENT_MAC, !seed)
}

pub fn thinking_service(port: u16, request_bytes: u64, reply_bytes: u64, think: Time) -> Service {
    let answers = Answers::Requests {
        request_bytes,
        reply_bytes,
        think_ns: think,
    };
    Service {
        address: SERVER,
        port,
        tos: None,
        answers,
    }
}

pub fn service(port: u16, request_bytes: u64, reply_bytes: u64) -> Service {
    thinking_service(port, request_bytes, reply_bytes, 0)
}

/// A client of the server that does as it is told from the start on.
pub fn client_of(server_port: u16, traffic: Traffic) -> Flow {
    let ends = Ends {
        client_address: CLIENT,
        server_address: SERVER,
        server_port,
        start_ns: 0,
        stop_ns: None,
        tos: None,
    };
    Flow { ends, traffic }
}

pub fn starting(mut flow: Flow, start_ns: Time) -> Flow {
    flow.ends.start_ns = start_ns;
    flow
}

pub fn ending(mut flow: Flow, stop_ns: Time) -> Flow {
    flow.ends.stop_ns = Some(stop_ns);
    flow
}

/// The client's side of a service.
pub fn flow(service: &Service, records_per_connection: u64, start: Time) -> Flow {
    let Answers::Requests {
        request_bytes,
        reply_bytes,
        think_ns,
    } = service.answers
    else {
        panic!("a service of requests")
    };
    let traffic = Traffic::RequestResponse {
        request_bytes,
        reply_bytes,
        records_per_connection,
        think_ns,
        pause_ns: 0,
    };
    starting(client_of(service.port, traffic), start)
}

/// Client, line and server, wired up.
pub struct Network {
    pub world: World,
    pub client: Arc<Mutex<TcpHost>>,
    pub server: Arc<Mutex<TcpHost>>,
    pub line: Arc<Mutex<Line>>,
}

impl Network {
    pub fn new(client: HostConfig, server: HostConfig, line: Line, delay: Time) -> Self {
        let client = Arc::new(Mutex::new(TcpHost::new(client).expect("a good host")));
        let server = Arc::new(Mutex::new(TcpHost::new(server).expect("a good host")));
        let line = Arc::new(Mutex::new(line));
        let mut world = World::new();
        let client_id = world
            .add_node("client", Box::new(Arc::clone(&client)) as _)
            .expect("new");
        let server_id = world
            .add_node("server", Box::new(Arc::clone(&server)) as _)
            .expect("new");
        let line_id = world
            .add_node("line", Box::new(Arc::clone(&line)) as _)
            .expect("new");
        world
            .connect((client_id, HOST_PORT), (line_id, 0), delay)
            .expect("a free port");
        world
            .connect((server_id, HOST_PORT), (line_id, 1), delay)
            .expect("a free port");
        Self {
            world,
            client,
            server,
            line,
        }
    }

    pub fn add(&self, service: &Service, flow: Flow) {
        self.server()
            .add_service(service.clone())
            .expect("a good service");
        self.client().add_flow(flow).expect("a good flow");
    }

    pub fn client(&self) -> MutexGuard<'_, TcpHost> {
        self.client.lock().expect("nothing panicked")
    }

    pub fn server(&self) -> MutexGuard<'_, TcpHost> {
        self.server.lock().expect("nothing panicked")
    }

    pub fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().expect("nothing panicked")
    }

    pub fn run(&mut self, until: Time) {
        self.world.run_until(until, &mut |_| true).expect("a run");
        self.check_conservation();
    }

    /// Frames, at every node and on the wires, and bytes of the applications.
    pub fn check_conservation(&self) {
        let (client, server) = (self.client().statistics(), self.server().statistics());
        let line = self.line();
        for host in [client, server] {
            assert_eq!(
                host.frames_received,
                host.segments_received + host.datagrams_received + host.dropped()
            );
            assert_eq!(host.bytes_corrupted, 0);
        }
        assert_eq!(
            line.received,
            line.sent + line.lost + line.tail_dropped + line.held()
        );
        let sent = client.frames_sent + server.frames_sent + line.sent;
        let received = client.frames_received + server.frames_received + line.received;
        assert_eq!(sent, received + self.world.frames_in_flight());
        assert!(server.request_bytes_received <= client.request_bytes_sent);
        assert!(client.reply_bytes_received <= server.reply_bytes_sent);
    }
}
