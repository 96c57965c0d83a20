//! TCP from end to end: request/response traffic between two hosts over a slow line that may lose packets.

mod support;

use phb_hosts::{HostConfig, Transaction};
use phb_network::Time;
use proptest::prelude::*;
use support::{
    Line, MILLISECOND, Network, SECOND, client_config, ending, flow, server_config, service,
    thinking_service,
};

fn network(line: Line) -> Network {
    Network::new(client_config(1), server_config(1), line, MILLISECOND)
}

fn seconds(transactions: &[Transaction]) -> Vec<f64> {
    transactions
        .iter()
        .map(|t| (t.end - t.start) as f64 / 1e9)
        .collect()
}

#[test]
fn an_undisturbed_transaction_takes_the_time_of_its_bits() {
    let mut network = network(Line::new(256_000, 150, 0, 1));
    let service = service(700, 100, 1400);
    network.add(&service, flow(&service, 3, 0));
    network.run(SECOND);
    let times = seconds(network.client().transactions());
    // 100 + 40 + 7 bytes one way, 1400 + 40 + 7 the other, at 256 kbit/s; four wires of 1 ms. smoltcp's clock has a
    // resolution of 1 µs.
    let exact = (147.0 + 1447.0) * 8.0 / 256_000.0 + 0.004;
    assert!(times.len() > 10);
    for time in &times[1..3] {
        assert!((time - exact).abs() < 2e-6, "{time} s instead of {exact} s");
    }
}

#[test]
fn a_client_starts_over_on_a_new_connection_after_its_records() {
    let mut network = network(Line::new(10_000_000, 150, 0, 1));
    let service = service(700, 100, 1400);
    network.add(&service, flow(&service, 5, 0));
    network.run(SECOND);
    let completed = network.client().transactions().len() as u64;
    let statistics = network.client().statistics();
    assert_eq!(
        statistics.connections_opened,
        completed.div_ceil(5) + u64::from(completed.is_multiple_of(5))
    );
    assert_eq!(statistics.connections_failed, 0);
    assert_eq!(statistics.segments_retransmitted, 0);
    assert_eq!(statistics.resets_received, 0);
    assert!(
        network.server().statistics().connections_open <= 2,
        "the server forgets what is closed"
    );
    assert_eq!(
        network.client().flow_statistics()[0].transactions,
        completed
    );
}

#[test]
fn every_byte_asked_for_arrives_despite_loss() {
    for (loss_per_mille, seed) in [(0, 1), (10, 2), (50, 3), (200, 4)] {
        let mut network = network(Line::new(2_000_000, 20, loss_per_mille, seed));
        let replies = [1400, 30_000];
        let services = [
            service(700, 100, replies[0]),
            service(5000, 3000, replies[1]),
        ];
        for service in &services {
            let flow = ending(flow(service, 4, 10 * MILLISECOND), 60 * SECOND);
            network.add(service, flow);
        }
        // long enough for the last retransmissions and TIME-WAIT
        network.run(2000 * SECOND);
        let (client, server) = (network.client().statistics(), network.server().statistics());
        assert_eq!(
            client.request_bytes_sent, server.request_bytes_received,
            "loss {loss_per_mille}"
        );
        assert_eq!(
            server.reply_bytes_sent, client.reply_bytes_received,
            "loss {loss_per_mille}"
        );
        let transactions = network.client().flow_statistics().to_vec();
        let asked: u64 = transactions
            .iter()
            .zip(replies)
            .map(|(flow, reply_bytes)| flow.transactions * reply_bytes)
            .sum();
        assert_eq!(asked, client.reply_bytes_received);
        assert!(
            transactions
                .iter()
                .all(|flow| flow.transactions > 0 && flow.failures == 0)
        );
        assert_eq!(client.connections_failed + server.connections_failed, 0);
        assert_eq!((client.connections_open, server.connections_open), (0, 0));
        assert_eq!(
            client.segments_retransmitted + server.segments_retransmitted > 0,
            loss_per_mille > 0
        );
    }
}

#[test]
fn thirty_three_connections_share_a_congested_line() {
    let mut network = network(Line::new(256_000, 150, 0, 1));
    let transfer = service(1000, 100, 10_000);
    for number in 0..30 {
        network.add(&transfer, flow(&transfer, 100, number * MILLISECOND));
    }
    network.run(100 * SECOND);
    let statistics = network.client().statistics();
    // what the line can carry, less headers and what is still in the queue
    let goodput = statistics.reply_bytes_received as f64 * 8.0 / 256_000.0 / 100.0;
    assert!((0.90..0.97).contains(&goodput), "goodput {goodput}");
    let flows = network.client().flow_statistics().to_vec();
    assert!(
        flows.iter().all(|flow| flow.transactions >= 5),
        "none is starved"
    );
}

#[test]
fn a_server_that_thinks_answers_later_by_that_time() {
    let mut network = network(Line::new(1_000_000, 150, 0, 1));
    let slow = thinking_service(701, 100, 1400, 300 * MILLISECOND);
    network.add(&slow, flow(&slow, 50, 0));
    network.run(10 * SECOND);
    let times = seconds(network.client().transactions());
    let exact = 0.3 + (147.0 + 1447.0) * 8.0 / 1e6 + 0.004;
    // the acknowledgement of the request may leave on its own meanwhile, but on the other direction of the line
    assert!(
        times.iter().skip(1).all(|time| (time - exact).abs() < 1e-3),
        "{times:?}"
    );
}

#[test]
fn a_refused_client_tries_again_after_its_delay() {
    let mut network = network(Line::new(1_000_000, 150, 0, 1));
    let nobody = service(9, 1, 1);
    network
        .client()
        .add_flow(flow(&nobody, 1, 0))
        .expect("a good flow");
    network.run(5 * SECOND);
    let statistics = network.client().statistics();
    assert_eq!(
        (statistics.connections_opened, statistics.connections_failed),
        (5, 5)
    );
    assert_eq!(network.server().statistics().resets_sent, 5);
    assert_eq!(network.client().flow_statistics()[0].failures, 5);
    assert!(network.client().transactions().is_empty());
}

#[test]
fn the_same_seeds_give_the_same_run() {
    let run = |seed| {
        let line = Line::new(512_000, 10, 20, seed);
        let mut network = Network::new(
            client_config(seed),
            server_config(seed),
            line,
            3 * MILLISECOND,
        );
        for number in 0..5 {
            let service = service(700 + number, 100, 5000);
            network.add(
                &service,
                flow(&service, 7, Time::from(number) * MILLISECOND),
            );
        }
        network.run(60 * SECOND);
        let transactions = network.client().transactions().to_vec();
        (transactions, network.world.events())
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_large_buffer_is_offered_by_window_scaling() {
    let large = |config: HostConfig| HostConfig {
        window_bytes: 1 << 20,
        ..config
    };
    let line = Line::new(100_000_000, 10_000, 0, 1);
    let mut network = Network::new(
        large(client_config(1)),
        large(server_config(1)),
        line,
        20 * MILLISECOND,
    );
    let bulk = service(20, 100, 50_000_000);
    network.add(&bulk, flow(&bulk, 1, 0));
    network.run(7 * SECOND);
    // 64 KB per 80 ms would take a minute
    assert_eq!(network.client().transactions().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever the line and the options, bytes are conserved and the last connection is closed in the end.
    #[test]
    fn conservation_over_any_line(
        rate in 64_000u64..50_000_000, buffer in 1usize..60, loss in 0u64..100, seed: u64, delay in 0u64..50,
        mtu in 88usize..4096, windows in (200usize..40_000, 200usize..40_000), nagle: bool,
        delayed_ack in prop::option::of(0u64..500), request in 1u64..5_000, reply in 1u64..20_000, think in 0u64..50,
    ) {
        let mut client = client_config(seed);
        client.mtu_bytes = mtu;
        client.window_bytes = windows.0;
        client.nagle = nagle;
        client.delayed_ack_ns = delayed_ack.map(|ms| ms * MILLISECOND);
        let mut server = server_config(seed);
        server.window_bytes = windows.1;
        server.nagle = nagle;
        let line = Line::new(rate, buffer, loss, seed);
        let mut network = Network::new(client, server, line, delay * MILLISECOND);
        let service = thinking_service(700, request, reply, think * MILLISECOND);
        for start in 0..3 {
            let flow = ending(flow(&service, 3, start * MILLISECOND), 20 * SECOND);
            network.add(&service, flow);
        }
        for _ in 0..5 {
            let next = network.world.now() + 10 * SECOND;
            network.run(next);
        }
        network.run(40_000 * SECOND);
        let (client, server) = (network.client().statistics(), network.server().statistics());
        prop_assert_eq!(client.request_bytes_sent, server.request_bytes_received);
        prop_assert_eq!(server.reply_bytes_sent, client.reply_bytes_received);
        prop_assert_eq!((client.connections_open, server.connections_open), (0, 0));
    }
}
