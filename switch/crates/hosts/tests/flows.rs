//! Datagrams, streams and messages from end to end, over a line that may be slow or lose packets.

mod support;

use std::sync::{Arc, Mutex};

use phb_hosts::{Answers, Flow, HOST_PORT, Pattern, Received, Service, TcpHost, Traffic};
use phb_network::{Frame, Node, Output, Port, Time, World};
use support::{
    CLIENT, Line, MILLISECOND, Network, SECOND, SERVER, client_config, client_of, ending, flow,
    server_config, service, starting, thinking_service,
};

/// ToS of DSCP EF.
const EF: u8 = 0xb8;

fn network(line: Line) -> Network {
    Network::new(client_config(1), server_config(1), line, MILLISECOND)
}

/// Adds a client whose traffic ends in a sink; gives the number of the sink on the server.
fn add_with_sink(network: &Network, flow: Flow) -> usize {
    let ends = &flow.ends;
    let (address, port) = (ends.server_address, ends.server_port);
    let sink = if matches!(flow.traffic, Traffic::Datagrams { .. }) {
        let sender = (ends.client_address, network.client().next_datagram_port());
        network.server().add_datagram_sink(address, port, sender)
    } else {
        network.server().add_stream_sink(address, port, ends.tos)
    };
    network.client().add_flow(flow).expect("a good flow");
    sink.expect("a good sink")
}

/// What has come to a sink of the server.
fn received(network: &Network, sink: usize) -> Received {
    network.server().received(sink).expect("a sink").clone()
}

fn fast() -> Line {
    Line::new(1_000_000_000, 1000, 0, 1)
}

fn datagrams(payload_bytes: usize, interval: Time, poisson_seed: Option<u64>) -> Traffic {
    Traffic::Datagrams {
        payload_bytes,
        interval_ns: interval,
        pattern: poisson_seed.map_or(Pattern::Periodic, |_| Pattern::Poisson),
        seed: poisson_seed.unwrap_or(0),
    }
}

fn stream(total_bytes: Option<u64>) -> Traffic {
    Traffic::Stream {
        total_bytes,
        write_bytes: 65_536,
    }
}

fn messages(permanent: bool, schedule: &[(Time, u64)]) -> (Service, Flow) {
    let traffic = Traffic::Messages {
        permanent,
        schedule: schedule.into(),
        answer_bytes: 40,
    };
    let service = Service {
        address: SERVER,
        port: 5000,
        tos: None,
        answers: Answers::Messages { answer_bytes: 40 },
    };
    (service, client_of(5000, traffic))
}

#[test]
fn a_datagram_takes_exactly_the_time_of_its_bits_and_of_the_wires() {
    // 14 + 20 + 8 + 472 bytes and 7 less on the line are 507 * 8 bits at 1 Mbit/s; two wires of 1 ms.
    let mut network = network(Line::new(1_000_000, 150, 0, 1));
    let start = 12_345;
    let sink = add_with_sink(
        &network,
        ending(
            starting(
                client_of(5001, datagrams(472, 20 * MILLISECOND, None)),
                start,
            ),
            start + 10 * 20 * MILLISECOND,
        ),
    );
    network.run(SECOND);
    let received = received(&network, sink);
    let delay = 507 * 8 * 1000 + 2 * MILLISECOND;
    let expected: Vec<_> = (0..10)
        .map(|number| (start + number * 20 * MILLISECOND + delay, delay))
        .collect();
    assert_eq!(received.delays, expected);
    assert_eq!((received.packets, received.bytes), (10, 4720));
    assert_eq!(received.by_second, [4720]);
    let sent = network.client().flow_statistics()[0];
    assert_eq!((sent.packets_sent, sent.bytes_sent), (10, 4720));
    assert_eq!(network.server().statistics().datagrams_received, 10);
}

#[test]
fn a_rate_that_nothing_changes_loses_what_the_line_does_not_take() {
    // 2 Mbit/s of frames over 1 Mbit/s: the queue of ten fills up, then every second datagram is lost.
    let mut network = network(Line::new(1_000_000, 10, 0, 1));
    let sink = add_with_sink(
        &network,
        ending(
            client_of(5001, datagrams(465, 2 * MILLISECOND, None)),
            10 * SECOND,
        ),
    );
    network.run(11 * SECOND);
    let (sent, received) = (
        network.client().flow_statistics()[0],
        received(&network, sink),
    );
    assert_eq!(sent.packets_sent, 5000);
    assert_eq!(received.packets + network.line().tail_dropped, 5000);
    assert!((2500..2512).contains(&received.packets), "{received:?}");
    assert_eq!(received.by_second.iter().sum::<u64>(), received.bytes);
    assert_eq!(received.by_second[3], 250 * 465);
}

#[test]
fn a_poisson_source_keeps_its_mean_and_its_seed() {
    let run = |seed| {
        let mut network = network(fast());
        let sink = add_with_sink(
            &network,
            ending(
                client_of(5001, datagrams(16, 10 * MILLISECOND, Some(seed))),
                100 * SECOND,
            ),
        );
        network.run(101 * SECOND);
        received(&network, sink)
    };
    let received = run(1);
    // A Poisson count of mean 10,000 has a standard deviation of 100; 99.9 % are within 3.3 of them.
    assert!(
        (9_670..10_330).contains(&received.packets),
        "{}",
        received.packets
    );
    assert_eq!(received, run(1));
    assert_ne!(received, run(2));
}

#[test]
fn sinks_tell_their_senders_apart_and_nobody_takes_the_rest() {
    let mut network = network(fast());
    let wanted: Vec<_> = [20, 50]
        .map(|payload| {
            let flow = client_of(5001, datagrams(payload, 100 * MILLISECOND, None));
            add_with_sink(&network, flow)
        })
        .into();
    let nobody = client_of(5002, datagrams(20, 100 * MILLISECOND, None));
    network.client().add_flow(nobody).expect("a good flow");
    network.run(SECOND);
    for (sink, payload) in wanted.into_iter().zip([20, 50]) {
        let received = received(&network, sink);
        assert_eq!((received.packets, received.bytes), (10, 10 * payload));
    }
    let server = network.server().statistics();
    assert_eq!(
        (server.datagrams_received, server.dropped_no_listener),
        (20, 10)
    );
}

#[test]
fn a_stream_fills_the_line() {
    let mut network = network(Line::new(1_000_000, 150, 0, 1));
    let sink = add_with_sink(&network, ending(client_of(5001, stream(None)), 30 * SECOND));
    network.run(40 * SECOND);
    let received = received(&network, sink);
    let sent = network.client().flow_statistics()[0].bytes_sent;
    assert_eq!(received.bytes, sent);
    assert_eq!(sent % 65_536, 0, "a write that has begun is finished");
    assert_eq!(received.by_second.iter().sum::<u64>(), received.bytes);
    // 1460 bytes of 1507 on the line (MSS 1460, headers 40, Ethernet 14, 7 less on the line).
    let rate = received.by_second[10..20].iter().sum::<u64>() as f64 / 10.0;
    let most = 1_000_000.0 / 8.0 * 1460.0 / 1507.0;
    assert!(
        rate > 0.99 * most && rate <= 1.001 * most,
        "{rate} of {most} bytes/s"
    );
    assert_eq!(network.client().statistics().connections_opened, 1);
    assert_eq!(network.server().statistics().connections_failed, 0);
}

#[test]
fn a_stream_of_a_given_length_brings_all_of_it_despite_loss() {
    for (loss_per_mille, total) in [(0, 1), (0, 65_536), (0, 1_000_000), (30, 300_000)] {
        let mut network = network(Line::new(2_000_000, 20, loss_per_mille, 3));
        let sink = add_with_sink(&network, client_of(5001, stream(Some(total))));
        network.run(2000 * SECOND);
        assert_eq!(
            received(&network, sink).bytes,
            total,
            "loss {loss_per_mille}"
        );
        let client = network.client().statistics();
        assert_eq!((client.connections_opened, client.connections_open), (1, 0));
    }
}

#[test]
fn a_permanent_association_carries_one_message_after_another() {
    // The second is submitted while the first is on its way; the third when nothing is.
    let schedule = [(0, 10_000), (1000, 8), (5 * SECOND, 100_000)];
    let mut network = network(Line::new(1_000_000, 150, 0, 1));
    let (service, flow) = messages(true, &schedule);
    network.add(&service, flow);
    network.run(20 * SECOND);
    let transactions = network.client().transactions().to_vec();
    let starts: Vec<_> = transactions.iter().map(|t| t.start).collect();
    assert_eq!(starts, [0, 1000, 5 * SECOND]);
    assert!(
        transactions[1].end > transactions[0].end,
        "one after the other"
    );
    let bits = |bytes: f64| (bytes + bytes / 1460.0 * 47.0) * 8.0 / 1e6;
    // At the start an acknowledgement may wait its 200 ms for a second segment.
    let third = (transactions[2].end - transactions[2].start) as f64 / 1e9;
    assert!(
        (bits(100_000.0)..bits(100_000.0) + 0.25).contains(&third),
        "{third}"
    );
    let (client, server) = (network.client().statistics(), network.server().statistics());
    assert_eq!((client.connections_opened, client.connections_open), (1, 1));
    assert_eq!(server.request_bytes_received, 110_008);
    assert_eq!(client.reply_bytes_received, 120);
}

#[test]
fn on_demand_each_message_opens_a_connection_of_its_own_and_its_time_counts() {
    let schedule = [(SECOND, 1000), (SECOND + 1, 1000), (5 * SECOND, 1000)];
    let times = |permanent| {
        let mut network = network(Line::new(1_000_000, 150, 0, 1));
        let (service, flow) = messages(permanent, &schedule);
        network.add(&service, flow);
        network.run(20 * SECOND);
        let opened = network.client().statistics().connections_opened;
        let transactions = network.client().transactions().to_vec();
        assert_eq!(transactions.len(), 3);
        (opened, transactions[2].end - transactions[2].start)
    };
    let ((one, permanent), (three, on_demand)) = (times(true), times(false));
    assert_eq!((one, three), (1, 3));
    // SYN, and SYN and ACK: 40 bytes and an option of 4 and more, over 4 ms of wire.
    let handshake = on_demand - permanent;
    assert!(
        (4 * MILLISECOND..6 * MILLISECOND).contains(&handshake),
        "{handshake} ns"
    );
}

#[test]
fn messages_arrive_whole_despite_loss() {
    let schedule: Vec<_> = (0..20)
        .map(|number: u64| (number * SECOND, 8 + number * number * 131))
        .collect();
    for permanent in [true, false] {
        let mut network = network(Line::new(1_000_000, 20, 50, 7));
        let (service, flow) = messages(permanent, &schedule);
        network.add(&service, flow);
        network.run(2000 * SECOND);
        assert_eq!(network.client().transactions().len(), 20);
        let received = network.server().statistics().request_bytes_received;
        assert_eq!(
            received,
            schedule.iter().map(|(_, bytes)| bytes).sum::<u64>()
        );
    }
}

#[test]
fn a_client_that_pauses_asks_later_by_that_time() {
    let mut network = network(fast());
    let service = service(700, 100, 1400);
    let pausing = Flow {
        traffic: Traffic::RequestResponse {
            request_bytes: 100,
            reply_bytes: 1400,
            records_per_connection: 3,
            think_ns: 0,
            pause_ns: 250 * MILLISECOND,
        },
        ..flow(&service, 1, 0)
    };
    network.add(&service, pausing);
    network.run(10 * SECOND);
    let transactions = network.client().transactions().to_vec();
    assert!(transactions.len() > 30);
    for pair in transactions.windows(2) {
        let gap = pair[1].start - pair[0].end;
        // A new connection after every third: SYN and answer, 4 ms of wire.
        assert!((250..256).contains(&(gap / MILLISECOND)), "{gap} ns");
    }
}

/// Keeps what passes between two nodes.
struct Watch {
    seen: Arc<Mutex<Vec<(Port, u8)>>>,
}

impl Node for Watch {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        let mut seen = self.seen.lock().expect("nobody panicked");
        seen.push((port, frame.bytes[15]));
        out.send(now, 1 - port, frame);
    }

    fn tick(&mut self, _now: Time, _out: &mut Output) {}

    fn next_tick(&self) -> Option<Time> {
        None
    }
}

#[test]
fn both_directions_of_a_connection_carry_its_type_of_service() {
    let traffic = [
        Traffic::RequestResponse {
            request_bytes: 100,
            reply_bytes: 1400,
            records_per_connection: 2,
            think_ns: 0,
            pause_ns: 0,
        },
        stream(Some(10_000)),
        datagrams(100, MILLISECOND, None),
    ];
    for traffic in traffic {
        let (mut client, mut server) = (
            TcpHost::new(client_config(1)).expect("a good host"),
            TcpHost::new(server_config(1)).expect("a good host"),
        );
        let is_datagrams = matches!(traffic, Traffic::Datagrams { .. });
        match traffic {
            Traffic::RequestResponse { .. } => server
                .add_service(Service {
                    tos: Some(EF),
                    ..thinking_service(700, 100, 1400, MILLISECOND)
                })
                .expect("a good service"),
            _ if is_datagrams => {
                drop(server.add_datagram_sink(SERVER, 700, (CLIENT, client.next_datagram_port())))
            }
            _ => drop(server.add_stream_sink(SERVER, 700, Some(EF))),
        }
        let mut flow = ending(client_of(700, traffic), 100 * MILLISECOND);
        flow.ends.tos = Some(EF);
        client.add_flow(flow).expect("a good flow");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let watch = Watch {
            seen: Arc::clone(&seen),
        };
        let mut world: World = World::new();
        let ids = [
            world.add_node("client", Box::new(client)),
            world.add_node("watch", Box::new(watch)),
            world.add_node("server", Box::new(server)),
        ]
        .map(|id| id.expect("a new name"));
        world
            .connect((ids[0], HOST_PORT), (ids[1], 0), MILLISECOND)
            .expect("free");
        world
            .connect((ids[1], 1), (ids[2], HOST_PORT), MILLISECOND)
            .expect("free");
        world.run_until(SECOND, &mut |_| true).expect("a run");
        let seen = seen.lock().expect("nobody panicked");
        assert!(seen.iter().any(|(port, _)| *port == 0));
        assert_eq!(seen.iter().any(|(port, _)| *port == 1), !is_datagrams);
        assert!(seen.iter().all(|(_, tos)| *tos == EF), "{seen:?}");
    }
}

#[test]
fn a_datagram_that_comes_twice_counts_once_and_one_without_a_stamp_never() {
    let mut client = TcpHost::new(client_config(1)).expect("a good host");
    let port = client.next_datagram_port();
    client
        .add_flow(client_of(5001, datagrams(100, MILLISECOND, None)))
        .expect("a good flow");
    let mut out = Output::new();
    out.begin(0);
    client.tick(0, &mut out);
    let good = out.drain().next().expect("a datagram").frame;
    let mut wrong = good.clone();
    wrong.bytes[60] ^= 1;
    // 8 bytes of payload, and no checksum (RFC 768: 0 is none).
    let mut short = good.clone();
    short.bytes.truncate(14 + 20 + 8 + 8);
    short.bytes[16..18].copy_from_slice(&36u16.to_be_bytes());
    let checksum = ip_checksum(&short.bytes[14..34]);
    short.bytes[24..26].copy_from_slice(&checksum.to_be_bytes());
    short.bytes[38..40].copy_from_slice(&16u16.to_be_bytes());
    short.bytes[40..42].copy_from_slice(&[0, 0]);

    let mut server = TcpHost::new(server_config(1)).expect("a good host");
    let sink = server
        .add_datagram_sink(SERVER, 5001, (CLIENT, port))
        .expect("a good sink");
    for frame in [&good, &good, &wrong, &short] {
        out.begin(7);
        server.receive(7, HOST_PORT, frame.clone(), &mut out);
    }
    let received = server.received(sink).expect("a sink");
    assert_eq!(received.delays, [(7, 7)]);
    let statistics = server.statistics();
    assert_eq!(
        (statistics.datagrams_received, statistics.dropped_malformed),
        (2, 2)
    );
    assert_eq!(statistics.frames_received, 4);
}

/// RFC 1071 over a header whose checksum field counts as 0.
fn ip_checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header
        .chunks_exact(2)
        .enumerate()
        .filter(|(place, _)| *place != 5)
        .map(|(_, pair)| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[test]
fn wrong_parameters_are_named() {
    let of = |traffic| {
        TcpHost::new(client_config(1))
            .expect("a good host")
            .add_flow(client_of(5001, traffic))
            .map_err(|error| error.parameter)
    };
    assert_eq!(of(datagrams(15, 1, None)), Err("payload_bytes"));
    assert_eq!(of(datagrams(1473, 1, None)), Err("payload_bytes"));
    assert_eq!(of(datagrams(1472, 1, None)), Ok(0));
    assert_eq!(of(datagrams(100, 0, None)), Err("interval_ns"));
    assert_eq!(of(stream(Some(0))), Err("total_bytes"));
    let no_write = Traffic::Stream {
        total_bytes: None,
        write_bytes: 0,
    };
    assert_eq!(of(no_write), Err("write_bytes"));
    for (schedule, error) in [
        (vec![(0, 7)], Some("schedule")),
        (vec![(1, 8), (0, 8)], Some("schedule")),
        (vec![(1, 8), (1, 8)], None),
        (vec![], None),
    ] {
        let (_, flow) = messages(true, &schedule);
        assert_eq!(of(flow.traffic).err(), error, "{schedule:?}");
    }
    let mut server = TcpHost::new(server_config(1)).expect("a good host");
    assert_eq!(server.add_stream_sink(SERVER, 700, None).ok(), Some(0));
    let taken = server.add_stream_sink(SERVER, 700, None);
    assert_eq!(taken.map_err(|e| e.parameter), Err("server_port"));
    assert_eq!(
        server.add_datagram_sink(SERVER, 700, (CLIENT, 1)).ok(),
        Some(1)
    );
    let taken = server.add_datagram_sink(SERVER, 700, (CLIENT, 1));
    assert_eq!(taken.map_err(|e| e.parameter), Err("server_port"));
    let other = server.add_datagram_sink(CLIENT, 700, (CLIENT, 1));
    assert_eq!(other.map_err(|e| e.parameter), Err("server_address"));
}
