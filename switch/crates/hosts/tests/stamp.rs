//! Test packets (STAMP) from end to end: times, numbers, losses in each direction.

#[expect(dead_code, reason = "what other tests need")]
mod support;

use phb_hosts::{Flow, HOST_PORT, Probe, TcpHost, Traffic};
use phb_network::{Frame, Node, Output, Time};
use support::{
    CLIENT, Line, MILLISECOND, Network, SECOND, SERVER, client_config, client_of, ending,
    server_config, starting,
};

const PORT: u16 = 862;
/// ToS of DSCP AF11, with ECT(0).
const TOS: u8 = 0x2a;

fn network(line: Line) -> Network {
    Network::new(client_config(1), server_config(1), line, MILLISECOND)
}

fn test_packets(payload_bytes: usize, interval_ns: Time) -> Flow {
    let mut flow = client_of(
        PORT,
        Traffic::Stamp {
            payload_bytes,
            interval_ns,
        },
    );
    flow.ends.tos = Some(TOS);
    flow
}

fn add(network: &Network, flow: Flow) {
    network
        .server()
        .add_reflector(SERVER, PORT)
        .expect("an address of the host's");
    network.client().add_flow(flow).expect("a good flow");
}

#[test]
fn both_ways_take_the_time_of_their_bits_and_of_the_wires() {
    // 14 + 20 + 8 + 100 bytes and 7 less on the line are 135 * 8 bits at 1 Mbit/s; two wires of 1 ms.
    let mut network = network(Line::new(1_000_000, 150, 0, 1));
    let start = 1_234_567;
    add(
        &network,
        ending(
            starting(test_packets(100, 7 * MILLISECOND), start),
            start + 35 * MILLISECOND,
        ),
    );
    network.run(SECOND);
    let way = 135 * 8 * 1000 + 2 * MILLISECOND;
    let expected: Vec<Probe> = (0..5u32)
        .map(|number| {
            let sent = start + u64::from(number) * 7 * MILLISECOND;
            Probe {
                sequence: number,
                reflector_sequence: number,
                sent,
                received: sent + way,
                reflected: sent + way,
                returned: sent + 2 * way,
            }
        })
        .collect();
    assert_eq!(network.client().probes(0), expected);
    assert_eq!(network.client().flow_statistics()[0].packets_sent, 5);
    assert_eq!(network.client().statistics().datagrams_received, 5);
    assert_eq!(network.server().statistics().datagrams_received, 5);
}

#[test]
fn the_reflector_counts_what_comes() {
    let mut network = network(Line::new(100_000_000, 1000, 200, 3));
    add(
        &network,
        ending(test_packets(44, MILLISECOND), 2000 * MILLISECOND),
    );
    network.run(3 * SECOND);
    let client = network.client();
    let probes = client.probes(0);
    let last = probes.last().expect("some come back");
    let there = network.server().statistics().datagrams_received;
    assert!((1500..1700).contains(&there), "{there} of 2,000");
    assert!((1200..1360).contains(&probes.len()), "{}", probes.len());
    assert!(u64::from(last.reflector_sequence) < there);
    assert!(last.reflector_sequence < last.sequence);
    for pair in probes.windows(2) {
        assert!(pair[0].sequence < pair[1].sequence);
        assert!(pair[0].reflector_sequence < pair[1].reflector_sequence);
    }
}

/// The first test packet of a client, its host, and a host with a reflector.
fn first_packet() -> (Frame, TcpHost, TcpHost) {
    let mut client = TcpHost::new(client_config(1)).expect("a good host");
    client
        .add_flow(test_packets(60, SECOND))
        .expect("a good flow");
    let mut server = TcpHost::new(server_config(1)).expect("a good host");
    server
        .add_reflector(SERVER, PORT)
        .expect("an address of the host's");
    let mut out = Output::new();
    out.begin(0);
    client.tick(0, &mut out);
    let frame = out.drain().next().expect("a test packet").frame;
    (frame, client, server)
}

/// What a host sends when it gets a frame.
fn given(host: &mut TcpHost, now: Time, frame: &Frame) -> Vec<Frame> {
    let mut out = Output::new();
    out.begin(now);
    host.receive(now, HOST_PORT, frame.clone(), &mut out);
    out.drain().map(|sent| sent.frame).collect()
}

#[test]
fn a_reply_is_as_long_as_its_request_and_marked_as_it_came() {
    let (frame, mut client, mut server) = first_packet();
    let replies = given(&mut server, 5, &frame);
    let [reply] = replies.as_slice() else {
        panic!("{} replies", replies.len())
    };
    assert_eq!(reply.len(), frame.len());
    assert_eq!((frame.bytes[15], reply.bytes[15]), (TOS, TOS));
    // The TTL with which the request came.
    assert_eq!(reply.bytes[14 + 20 + 8 + 40], 64);
    assert_eq!(given(&mut client, 9, reply).len(), 0);
    assert_eq!(given(&mut client, 11, reply).len(), 0);
    let expected = Probe {
        sequence: 0,
        reflector_sequence: 0,
        sent: 0,
        received: 5,
        reflected: 5,
        returned: 9,
    };
    assert_eq!(client.probes(0), [expected], "once");
    assert_eq!(client.statistics().datagrams_received, 2);
}

#[test]
fn what_is_no_test_packet_is_dropped_and_counted() {
    let (frame, mut client, mut server) = first_packet();
    let reply = given(&mut server, 5, &frame).remove(0);
    // Without a checksum (RFC 768), so that what is read is what is wrong.
    let changed = |frame: &Frame, at: usize, byte: u8| {
        let mut frame = frame.clone();
        frame.bytes[14 + 20 + 6..14 + 20 + 8].copy_from_slice(&[0, 0]);
        frame.bytes[14 + 20 + 8 + at] = byte;
        frame
    };
    // A number that was never sent, and a time of sending that is still to come.
    for wrong in [changed(&reply, 27, 1), changed(&reply, 28, 0xff)] {
        given(&mut client, 9, &wrong);
    }
    assert_eq!(client.probes(0), []);
    assert_eq!(client.statistics().dropped_malformed, 2);
    // Nobody asked this client's host to reflect, and no session of the server's waits.
    assert_eq!(given(&mut client, 9, &frame).len(), 0);
    let counted = server.statistics();
    assert_eq!((counted.datagrams_received, counted.dropped()), (1, 0));
    assert_eq!(given(&mut server, 9, &reply).len(), 0);
}

#[test]
fn wrong_parameters_are_named() {
    let of = |payload_bytes, interval_ns| {
        TcpHost::new(client_config(1))
            .expect("a good host")
            .add_flow(test_packets(payload_bytes, interval_ns))
            .map_err(|error| error.parameter)
    };
    assert_eq!(of(44, 1), Ok(0));
    assert_eq!(of(1472, 1), Ok(0));
    assert_eq!(of(43, 1), Err("payload_bytes"));
    assert_eq!(of(1473, 1), Err("payload_bytes"));
    assert_eq!(of(44, 0), Err("interval_ns"));
    let mut server = TcpHost::new(server_config(1)).expect("a good host");
    let error = server.add_reflector(CLIENT, PORT).expect_err("not its own");
    assert_eq!(error.parameter, "server_address");
}
