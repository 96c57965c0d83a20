use super::*;
use crate::configuration::CongestionControl;
use crate::sna;
use crate::traffic::{Ends, Traffic};

const CLIENT: Ipv4Addr = Ipv4Addr::new(133, 10, 50, 2);
const SERVER: Ipv4Addr = Ipv4Addr::new(133, 10, 30, 1);
const VIRTUAL: Ipv4Addr = Ipv4Addr::new(135, 1, 1, 1);
const CLIENT_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const SERVER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
const MILLISECOND: Time = 1_000_000;
const SECOND: Time = 1_000_000_000;

fn config(addresses: &[Ipv4Addr], mac: [u8; 6], gateway_mac: [u8; 6]) -> HostConfig {
    HostConfig {
        addresses: addresses.to_vec(),
        mac: Some(mac),
        gateway_mac: Some(gateway_mac),
        mtu_bytes: 1500,
        window_bytes: 16_384,
        nagle: true,
        delayed_ack_ns: None,
        congestion_control: CongestionControl::Reno,
        tos: 0,
        ttl: 64,
        user_timeout_ns: None,
        batches: false,
        relays: false,
        reconnect_delay_ns: SECOND,
        number: 1,
        seed: 1,
    }
}

fn client() -> TcpHost {
    TcpHost::new(config(&[CLIENT], CLIENT_MAC, SERVER_MAC)).expect("a good host")
}

fn server() -> TcpHost {
    let mut server =
        TcpHost::new(config(&[SERVER, VIRTUAL], SERVER_MAC, CLIENT_MAC)).expect("a good host");
    for address in [SERVER, VIRTUAL] {
        server
            .add_service(service(address, 700))
            .expect("a good service");
    }
    server
}

fn service(address: Ipv4Addr, port: u16) -> Service {
    let answers = Answers::Requests {
        request_bytes: 100,
        reply_bytes: 1400,
        think_ns: 0,
    };
    Service {
        address,
        port,
        tos: None,
        answers,
    }
}

fn requests(records_per_connection: u64, reply_bytes: u64) -> Traffic {
    Traffic::RequestResponse {
        request_bytes: 100,
        reply_bytes,
        records_per_connection,
        think_ns: 0,
        pause_ns: 0,
    }
}

fn flow(server_address: Ipv4Addr) -> Flow {
    let ends = Ends {
        client_address: CLIENT,
        server_address,
        server_port: 700,
        start_ns: 0,
        stop_ns: None,
        tos: None,
    };
    Flow {
        ends,
        traffic: requests(2, 1400),
    }
}

fn ending(mut flow: Flow, stop_ns: Time) -> Flow {
    flow.ends.stop_ns = Some(stop_ns);
    flow
}

fn frames(out: &mut Output) -> Vec<Frame> {
    out.drain().map(|sent| sent.frame).collect()
}

fn give(host: &mut TcpHost, now: Time, frame: &Frame) -> Vec<Frame> {
    let mut out = Output::new();
    out.begin(now);
    host.receive(now, HOST_PORT, frame.clone(), &mut out);
    frames(&mut out)
}

fn tick(host: &mut TcpHost, now: Time) -> Vec<Frame> {
    let mut out = Output::new();
    out.begin(now);
    host.tick(now, &mut out);
    frames(&mut out)
}

/// Carries frames back and forth, 1 ms each way, until nobody has anything to say. Gives the time.
fn converse(
    client: &mut TcpHost,
    server: &mut TcpHost,
    mut now: Time,
    mut to_server: Vec<Frame>,
) -> Time {
    while !to_server.is_empty() {
        now += MILLISECOND;
        let to_client: Vec<_> = to_server
            .iter()
            .flat_map(|frame| give(server, now, frame))
            .collect();
        now += MILLISECOND;
        to_server = to_client
            .iter()
            .flat_map(|frame| give(client, now, frame))
            .collect();
    }
    now
}

#[test]
fn a_repeated_syn_does_not_disturb_a_live_connection() {
    let (mut client, mut server) = (client(), server());
    let only_one_record = Flow {
        traffic: requests(1_000_000, 1400),
        ..flow(SERVER)
    };
    client.add_flow(only_one_record).expect("a good flow");
    let syn = tick(&mut client, 0).remove(0);
    let first = give(&mut server, 10, &syn);
    assert_eq!(first.len(), 1, "SYN and ACK");
    give(&mut server, 20, &syn); // the network has duplicated it, before ...
    let request = give(&mut client, 30, &first[0]);
    let reply: Vec<_> = request
        .iter()
        .flat_map(|frame| give(&mut server, 40, frame))
        .collect();
    let answer = give(&mut server, 2 * SECOND, &syn); // ... and after the connection was established
    assert!(
        answer.len() <= 1,
        "at most a challenge ACK (RFC 9293, section 3.10.7.4)"
    );
    let statistics = server.statistics();
    assert_eq!(
        (statistics.connections_accepted, statistics.connections_open),
        (1, 1)
    );
    assert_eq!(
        (statistics.resets_sent, statistics.connections_failed),
        (0, 0)
    );
    for frame in &reply {
        give(&mut client, 2 * SECOND, frame);
    }
    assert_eq!(client.transactions().len(), 1);
}

#[test]
fn each_of_several_addresses_answers_for_itself() {
    let (mut client, mut server) = (client(), server());
    client
        .add_flow(ending(flow(VIRTUAL), 1))
        .expect("a good flow");
    client
        .add_flow(ending(flow(SERVER), 1))
        .expect("a good flow");
    let syns = tick(&mut client, 0);
    let answers: Vec<_> = syns
        .iter()
        .flat_map(|syn| give(&mut server, 1, syn))
        .collect();
    let sources: Vec<_> = answers
        .iter()
        .map(|frame| frame.bytes[26..30].to_vec())
        .collect();
    assert_eq!(sources, [VIRTUAL.octets(), SERVER.octets()]);
}

#[test]
fn a_client_waits_out_time_wait_and_a_server_forgets_at_once() {
    let (mut client, mut server) = (client(), server());
    client
        .add_flow(ending(flow(SERVER), 1))
        .expect("a good flow");
    let syn = tick(&mut client, 0);
    converse(&mut client, &mut server, 0, syn);
    assert_eq!(
        client.transactions().len(),
        0,
        "the run of the client was over before the first record"
    );
    assert_eq!(
        (
            client.statistics().connections_open,
            server.statistics().connections_open
        ),
        (1, 0)
    );
    while let Some(due) = client.next_tick() {
        assert!(due < 20 * SECOND);
        assert!(tick(&mut client, due).is_empty());
    }
    assert_eq!(client.statistics().connections_open, 0);
    assert_eq!(
        server.statistics().connections_failed + client.statistics().connections_failed,
        0
    );
}

#[test]
fn a_syn_on_the_same_ports_may_end_time_wait() {
    let (mut client, mut server) = (client(), server());
    client
        .add_flow(ending(flow(SERVER), 1))
        .expect("a good flow");
    let syn = tick(&mut client, 0);
    let used = u16::from_be_bytes([syn[0].bytes[34], syn[0].bytes[35]]);
    converse(&mut client, &mut server, 0, syn);
    assert_eq!(client.statistics().connections_open, 1, "in TIME-WAIT");

    // The roles are reversed: the server's host opens a connection to the port that the client has just used.
    client
        .add_service(service(CLIENT, used))
        .expect("a good service");
    let mut back = flow(CLIENT);
    back.ends.client_address = SERVER;
    back.ends.server_port = used;
    server.next_port = 700;
    server.services.clear();
    server.add_flow(back).expect("a good flow");
    let syn = tick(&mut server, SECOND).remove(0);
    let answer = give(&mut client, SECOND, &syn).remove(0);
    assert_eq!(answer.bytes[47] & 0x3f, 0x12, "SYN and ACK");
    let statistics = client.statistics();
    assert_eq!(
        (statistics.connections_accepted, statistics.connections_open),
        (1, 1)
    );
}

#[test]
fn a_segment_without_a_connection_is_answered_with_a_reset() {
    let (mut client, mut server) = (client(), server());
    let mut elsewhere = flow(SERVER);
    elsewhere.ends.server_port = 701;
    client.add_flow(elsewhere).expect("a good flow");
    let syn = tick(&mut client, 0).remove(0);
    let reset = give(&mut server, 1, &syn);
    assert_eq!((reset.len(), server.statistics().resets_sent), (1, 1));
    assert!(give(&mut client, 2, &reset[0]).is_empty());
    assert_eq!(client.statistics().resets_received, 1);
    assert_eq!(client.statistics().connections_failed, 1);
    assert!(
        tick(&mut client, SECOND).is_empty(),
        "the timer of the lost SYN is stale"
    );
    assert_eq!(client.next_tick(), Some(2 + SECOND));
}

#[test]
fn what_is_not_for_the_host_is_dropped_and_counted() {
    let (mut client, mut server) = (client(), server());
    client.add_flow(flow(SERVER)).expect("a good flow");
    let syn = tick(&mut client, 0).remove(0);
    let changed = |place: usize, value: u8| {
        let mut frame = syn.clone();
        frame.bytes[place] = value;
        frame
    };
    let rechecked = |mut frame: Frame| {
        smoltcp::wire::Ipv4Packet::new_unchecked(&mut frame.bytes[14..]).fill_checksum();
        frame
    };
    let cases = [
        changed(5, 9),                        // another Ethernet address
        changed(12, 0x86),                    // not IPv4
        rechecked(changed(33, 7)),            // another IPv4 address
        changed(33, 7),                       // a wrong header checksum
        rechecked(changed(20, 0x20)),         // a fragment
        rechecked(changed(23, 1)),            // ICMP
        changed(40, !syn.bytes[40]),          // a wrong TCP checksum
        Frame::new(syn.bytes[..30].to_vec()), // cut off
        Frame::new(vec![0; 3]),               // not even Ethernet
        rechecked(changed(26, 0xff)),         // a source that is a group
    ];
    for frame in &cases {
        assert!(give(&mut server, 1, frame).is_empty());
    }
    let statistics = server.statistics();
    assert_eq!(statistics.dropped_other_mac, 1);
    assert_eq!(statistics.dropped_other_address, 1);
    assert_eq!(statistics.dropped_other_protocol, 3);
    assert_eq!(statistics.dropped_malformed, 5);
    assert_eq!(
        statistics.frames_received,
        statistics.segments_received + statistics.dropped()
    );
    assert_eq!(statistics.frames_sent, 0);

    server.config.mac = None;
    assert_eq!(give(&mut server, 2, &cases[0]).len(), 1);
}

#[test]
fn the_options_show_in_what_is_sent() {
    let mut config = config(&[CLIENT], CLIENT_MAC, SERVER_MAC);
    config.tos = 192;
    config.ttl = 32;
    config.mtu_bytes = 1000;
    let mut client = TcpHost::new(config).expect("a good host");
    client.add_flow(flow(SERVER)).expect("a good flow");
    let syn = tick(&mut client, 0).remove(0);
    assert_eq!(syn.bytes[..14], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0]);
    assert_eq!((syn.bytes[15], syn.bytes[22]), (192, 32));
    let mss = [2, 4, 3, 192]; // kind, length, 960
    assert!(syn.bytes[54..].windows(4).any(|option| option == mss));
    let packet = smoltcp::wire::Ipv4Packet::new_checked(&syn.bytes[14..]).expect("a datagram");
    assert!(packet.verify_checksum());
}

#[test]
fn ports_go_up_from_a_low_one_and_skip_those_in_use() {
    let mut client = client();
    for _ in 0..3 {
        client.add_flow(flow(SERVER)).expect("a good flow");
    }
    client.next_port = u16::MAX;
    let ports: Vec<_> = tick(&mut client, 0)
        .iter()
        .map(|syn| u16::from_be_bytes([syn.bytes[34], syn.bytes[35]]))
        .collect();
    assert_eq!(ports, [u16::MAX, 1024, 1025]);
    client.next_port = 1024;
    client.add_flow(flow(SERVER)).expect("a good flow");
    let port = tick(&mut client, 1).remove(0).bytes[34..36].to_vec();
    assert_eq!(port, 1026u16.to_be_bytes());
}

#[test]
fn wrong_parameters_are_named() {
    let good = config(&[CLIENT], CLIENT_MAC, SERVER_MAC);
    let refused = |change: &dyn Fn(&mut HostConfig)| {
        let mut config = good.clone();
        change(&mut config);
        TcpHost::new(config).err().map(|error| error.parameter)
    };
    assert_eq!(refused(&|_| {}), None);
    assert_eq!(refused(&|c| c.addresses.clear()), Some("addresses"));
    assert_eq!(refused(&|c| c.addresses.push(CLIENT)), Some("addresses"));
    assert_eq!(
        refused(&|c| c.addresses[0] = Ipv4Addr::BROADCAST),
        Some("addresses")
    );
    assert_eq!(refused(&|c| c.mtu_bytes = 40), Some("mtu_bytes"));
    for window in [0, usize::MAX] {
        assert_eq!(refused(&|c| c.window_bytes = window), Some("window_bytes"));
    }
    assert_eq!(refused(&|c| c.ttl = 0), Some("ttl"));
    assert_eq!(refused(&|c| c.mac = Some([1, 0, 0, 0, 0, 1])), Some("mac"));
    assert_eq!(
        refused(&|c| c.reconnect_delay_ns = 0),
        Some("reconnect_delay_ns")
    );

    let mut server = server();
    let error = server
        .add_service(service(CLIENT, 700))
        .expect_err("not the server's address");
    assert_eq!(
        error.to_string(),
        "server_address: 133.10.50.2 is not one of the host's addresses"
    );
    let error = server
        .add_service(Service {
            tos: Some(4),
            ..service(SERVER, 700)
        })
        .expect_err("other parameters");
    assert_eq!(
        error.to_string(),
        "server_port: 133.10.30.1:700 has a service with other parameters"
    );
    let error = client()
        .add_flow(Flow {
            traffic: requests(2, 0),
            ..flow(SERVER)
        })
        .expect_err("no reply");
    assert_eq!(error.parameter, "reply_bytes");
}

/// A host whose config `change` has changed, with the service.
fn changed_server(change: impl FnOnce(&mut HostConfig)) -> TcpHost {
    let mut config = config(&[SERVER], SERVER_MAC, CLIENT_MAC);
    change(&mut config);
    let mut server = TcpHost::new(config).expect("a good host");
    server
        .add_service(service(SERVER, 700))
        .expect("a good service");
    server
}

#[test]
fn a_host_that_takes_batches_answers_after_the_last_segment_of_a_time() {
    let mut client = client();
    for _ in 0..2 {
        client.add_flow(flow(SERVER)).expect("a good flow");
    }
    let mut server = changed_server(|config| config.batches = true);
    let syns = tick(&mut client, 0);
    assert_eq!(syns.len(), 2);
    let mut out = Output::new();
    out.begin(5);
    for syn in syns {
        server.receive(5, HOST_PORT, syn, &mut out);
    }
    assert_eq!(out.drain().count(), 0);
    assert_eq!(server.next_tick(), Some(5));
    assert_eq!(tick(&mut server, 5).len(), 2, "a SYN and ACK for each");
}

#[test]
fn a_host_that_relays_replies_when_the_application_has_answered() {
    let mut client = client();
    client.add_flow(flow(SERVER)).expect("a good flow");
    let mut server = changed_server(|config| config.relays = true);
    let syn = tick(&mut client, 0).remove(0);
    let accepted = give(&mut server, 1, &syn).remove(0);
    let mut asked = Vec::new();
    for frame in give(&mut client, 2, &accepted) {
        let mut out = Output::new();
        out.begin(3);
        server.receive(3, HOST_PORT, frame, &mut out);
        asked.extend(out.drain().filter(|sent| sent.port == NETWORK_PORT));
    }
    assert_eq!(asked.len(), 1);
    assert_eq!(server.statistics().reply_bytes_sent, 0);

    let asked = asked.remove(0).frame;
    let header = sna::read(&asked.bytes).expect("SNA");
    let (to, from) = (header.source, header.destination);
    let answer = Frame::new(sna::information(Vec::new(), to, from, 1, 1, 800));
    for (at, replied) in [(5, 1400), (6, 1400)] {
        let mut out = Output::new();
        out.begin(at);
        server.receive(at, NETWORK_PORT, answer.clone(), &mut out); // the second time nobody waits for it
        assert_eq!(server.statistics().reply_bytes_sent, replied);
    }
}
