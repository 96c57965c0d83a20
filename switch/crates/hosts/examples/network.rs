//! Measures hosts in virtual time: `cargo run --release -p phb-hosts --example network [-- sessions|streams] [SECONDS]`.
//!
//! - sessions: 16,000 connections that ask 100 bytes and are answered 800, together 785 times a second;
//! - streams: ten connections that send all the time, each with a window of 16 KiB.
//!
//! Two hosts, a wire of 1 ms and no switch: what is left is the hosts' and the event loop's. A number runs that many
//! seconds of virtual time, for a profiler: the difference of two lengths is free of what setting up costs.

use std::net::Ipv4Addr;
use std::time::Instant;

use phb_hosts::{CongestionControl, Ends, Flow, HOST_PORT, HostConfig, TcpHost, Traffic};
use phb_network::{Time, World};

const SECOND: Time = 1_000_000_000;
const MILLISECOND: Time = 1_000_000;
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SESSIONS: u64 = 16_000;
const TRANSACTIONS_PER_S: u64 = 785;
const STREAMS: u16 = 10;

fn host(number: u16, address: Ipv4Addr, window_bytes: usize) -> TcpHost {
    let config = HostConfig {
        addresses: vec![address],
        mac: None,
        gateway_mac: None,
        mtu_bytes: 1500,
        window_bytes,
        nagle: true,
        delayed_ack_ns: Some(200 * MILLISECOND),
        congestion_control: CongestionControl::Reno,
        tos: 0,
        ttl: 64,
        user_timeout_ns: None,
        batches: false,
        relays: false,
        reconnect_delay_ns: SECOND,
        number,
        seed: number.into(),
    };
    TcpHost::new(config).expect("a good configuration")
}

fn flow(server_port: u16, start_ns: Time, traffic: Traffic) -> Flow {
    let ends = Ends {
        client_address: CLIENT,
        server_address: SERVER,
        server_port,
        start_ns,
        stop_ns: None,
        tos: None,
    };
    Flow { ends, traffic }
}

fn world(client: TcpHost, server: TcpHost) -> World<TcpHost> {
    let mut world = World::new();
    let client = world.add_node("client", client).expect("the first");
    let server = world.add_node("server", server).expect("another name");
    world
        .connect((client, HOST_PORT), (server, HOST_PORT), MILLISECOND)
        .expect("free ports");
    world
}

/// Gives the time (ns) when all run, too.
fn sessions() -> (World<TcpHost>, Time) {
    let (mut client, mut server) = (host(1, CLIENT, 2048), host(2, SERVER, 2048));
    let pause_ns = SESSIONS * SECOND / TRANSACTIONS_PER_S;
    for number in 0..SESSIONS {
        let traffic = Traffic::RequestResponse {
            request_bytes: 100,
            reply_bytes: 800,
            records_per_connection: 1_000_000,
            think_ns: 0,
            pause_ns,
        };
        let flow = flow(23, number * pause_ns / SESSIONS, traffic);
        let service = flow.service().expect("it is answered");
        server.add_service(service).expect("a good service");
        client.add_flow(flow).expect("a good flow");
    }
    (world(client, server), 2 * pause_ns)
}

fn streams() -> (World<TcpHost>, Time) {
    let (mut client, mut server) = (host(1, CLIENT, 16_384), host(2, SERVER, 16_384));
    for port in 1..=STREAMS {
        server
            .add_stream_sink(SERVER, port, None)
            .expect("a free port");
        let traffic = Traffic::Stream {
            total_bytes: None,
            write_bytes: 65_536,
        };
        client
            .add_flow(flow(port, 0, traffic))
            .expect("a good flow");
    }
    (world(client, server), SECOND)
}

fn measure(name: &str, (mut world, from): (World<TcpHost>, Time), seconds: u64) {
    world.run_until(from, &mut |_| true).expect("no captures");
    let (before, start) = (world.events(), Instant::now());
    let until = from + seconds * SECOND;
    world.run_until(until, &mut |_| true).expect("no captures");
    let (events, took) = (world.events() - before, start.elapsed().as_secs_f64());
    println!(
        "{name}: {events} events, {:.0} a second, {:.0} times the clock",
        events as f64 / took,
        seconds as f64 / took
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = arguments.iter().find_map(|argument| argument.parse().ok());
    let wanted = |name: &str| arguments.iter().any(|argument| argument == name);
    if wanted("sessions") || !wanted("streams") {
        measure("sessions", sessions(), seconds.unwrap_or(60));
    }
    if wanted("streams") || !wanted("sessions") {
        measure("streams", streams(), seconds.unwrap_or(60));
    }
}
