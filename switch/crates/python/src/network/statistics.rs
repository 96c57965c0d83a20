//! Counters of a network as dictionaries, in the order of adding.

use std::sync::PoisonError;

use phb_adapters::osa::QueueKind;
use phb_adapters::sna::SnaStatistics;
use phb_adapters::{AdapterStatistics, DirectionStatistics, OsaStatistics};
use phb_hosts::{HostStatistics, TcpHost};
use phb_network::{NodeId, PortCounters, Time, World};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::member::Member;
use super::traffic::NamedFlow;

/// A dictionary of some counters of a struct.
macro_rules! counters {
    ($py:expr, $counted:expr, $($counter:ident)*) => {{
        let counters = PyDict::new($py);
        $(counters.set_item(stringify!($counter), $counted.$counter)?;)*
        counters
    }};
}

/// A dictionary of a struct's dropped frames, by reason.
macro_rules! dropped {
    ($py:expr, $counted:expr, $($reason:literal $counter:ident)*) => {{
        let dropped = PyDict::new($py);
        $(dropped.set_item($reason, $counted.$counter)?;)*
        dropped
    }};
}

fn host(world: &World<Member>, id: NodeId) -> Option<&TcpHost> {
    match world.node(id) {
        Member::Host(host) => Some(host),
        _ => None,
    }
}

/// Completed transactions in order of their ends, then of adding their flows.
pub(crate) fn transactions(
    world: &World<Member>,
    flows: &[NamedFlow],
) -> Vec<(String, String, Time, Time)> {
    let mut all = Vec::new();
    for (id, _, member) in world.nodes() {
        let running;
        let member = match member {
            Member::Shared(shared) => {
                running = shared.lock().unwrap_or_else(PoisonError::into_inner);
                &running.member
            }
            member => member,
        };
        if let Member::Stations(stations) = member {
            let place = flows.iter().position(|flow| flow.host == id).unwrap_or(0);
            let done = stations.transactions().iter();
            all.extend(done.map(|t| (t.end, place, t.start)));
        }
        let Member::Host(host) = member else { continue };
        let mut places = vec![0; host.flow_statistics().len()];
        for (place, flow) in flows.iter().enumerate().filter(|(_, flow)| flow.host == id) {
            places[flow.number] = place;
        }
        all.extend(
            host.transactions()
                .iter()
                .map(|t| (t.end, places[t.flow], t.start)),
        );
    }
    all.sort_unstable();
    let named = |(end, place, start): (Time, usize, Time)| {
        (
            flows[place].name.clone(),
            flows[place].group.clone(),
            start,
            end,
        )
    };
    all.into_iter().map(named).collect()
}

pub(crate) fn deliveries<'py>(
    py: Python<'py>,
    world: &World<Member>,
    flows: &[NamedFlow],
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut all = Vec::new();
    for flow in flows {
        let received = flow
            .sink
            .and_then(|(id, sink)| host(world, id)?.received(sink));
        let sent = host(world, flow.host).and_then(|host| host.flow_statistics().get(flow.number));
        let (Some(received), Some(sent)) = (received, sent) else {
            continue;
        };
        let delivery = PyDict::new(py);
        delivery.set_item("sent_packets", sent.packets_sent)?;
        delivery.set_item("sent_bytes", sent.bytes_sent)?;
        delivery.set_item("received_packets", received.packets)?;
        delivery.set_item("received_bytes", received.bytes)?;
        delivery.set_item("flow", &flow.name)?;
        delivery.set_item("group", &flow.group)?;
        delivery.set_item("received_by_second", &received.by_second)?;
        delivery.set_item("delays_ns", &received.delays)?;
        all.push(delivery);
    }
    Ok(all)
}

/// Each probe is (number, reflector's number, sent, received, reflected, returned), in ns.
pub(crate) fn stamps<'py>(
    py: Python<'py>,
    world: &World<Member>,
    flows: &[NamedFlow],
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let mut all = Vec::new();
    for flow in flows.iter().filter(|flow| flow.is_stamp) {
        let Some(host) = host(world, flow.host) else {
            continue;
        };
        let sent = host.flow_statistics().get(flow.number);
        let probes: Vec<_> = host
            .probes(flow.number)
            .iter()
            .map(|p| {
                (
                    p.sequence,
                    p.reflector_sequence,
                    p.sent,
                    p.received,
                    p.reflected,
                    p.returned,
                )
            })
            .collect();
        let session = PyDict::new(py);
        session.set_item("flow", &flow.name)?;
        session.set_item("group", &flow.group)?;
        session.set_item("sent_packets", sent.map_or(0, |sent| sent.packets_sent))?;
        session.set_item("probes", probes)?;
        all.push(session);
    }
    Ok(all)
}

pub(crate) fn all<'py>(
    py: Python<'py>,
    world: &World<Member>,
    flows: &[NamedFlow],
) -> PyResult<Bound<'py, PyDict>> {
    let (hosts, adapters, ports) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
    let sna = PyDict::new(py);
    for (id, name, member) in world.nodes() {
        let running;
        let member = match member {
            Member::Shared(shared) => {
                running = shared.lock().unwrap_or_else(PoisonError::into_inner);
                &running.member
            }
            member => member,
        };
        match member {
            Member::Shared(_) => {} // it holds an adapter itself
            Member::Switch(_) => {} // it has statistics of its own
            Member::Replay(_) => {} // its port's counters say it all
            Member::Host(host) => hosts.set_item(name, of_host(py, &host.statistics())?)?,
            Member::Cip(cip) => {
                let counted = of_adapter(py, "cip", &cip.statistics())?;
                let seconds = cip.by_second();
                let cpu: Vec<Time> = seconds.iter().map(|busy| busy.cpu).collect();
                let channel: Vec<Time> = seconds.iter().map(|busy| busy.channel).collect();
                counted.set_item("cpu_busy_ns_by_second", cpu)?;
                counted.set_item("channel_busy_ns_by_second", channel)?;
                adapters.set_item(name, counted)?;
            }
            Member::Stations(stations) => {
                sna.set_item(name, of_sna(py, &stations.statistics())?)?
            }
            Member::SnaHost(host) => sna.set_item(name, of_sna(py, &host.statistics())?)?,
            Member::Osa2(osa) => {
                adapters.set_item(name, of_adapter(py, "osa2", &osa.statistics())?)?
            }
            Member::Line(line) => {
                adapters.set_item(name, of_adapter(py, "line", &line.statistics())?)?
            }
            Member::Osa(osa) => adapters.set_item(name, of_osa(py, &osa.statistics())?)?,
        }
        let of_node = PyDict::new(py);
        for (port, counters) in world.ports(id) {
            of_node.set_item(port, of_port(py, &counters)?)?;
        }
        ports.set_item(name, of_node)?;
    }
    let statistics = PyDict::new(py);
    statistics.set_item("now_ns", world.now())?;
    statistics.set_item("events", world.events())?;
    statistics.set_item("frames_in_flight", world.frames_in_flight())?;
    statistics.set_item("frames_on_wires", world.frames_on_wires())?;
    statistics.set_item("lost_frames", world.lost_frames())?;
    statistics.set_item("unconnected_frames", world.unconnected_frames())?;
    statistics.set_item("hosts", hosts)?;
    statistics.set_item("adapters", adapters)?;
    statistics.set_item("sna", sna)?;
    statistics.set_item("ports", ports)?;
    statistics.set_item("flows", of_flows(py, world, flows)?)?;
    Ok(statistics)
}

fn of_host<'py>(py: Python<'py>, host: &HostStatistics) -> PyResult<Bound<'py, PyDict>> {
    let statistics = counters!(py, host,
        frames_received frames_sent segments_received datagrams_received
        segments_retransmitted resets_sent resets_received connections_opened
        connections_accepted connections_failed connections_open request_bytes_sent
        request_bytes_received reply_bytes_sent reply_bytes_received bytes_corrupted
    );
    let dropped = dropped!(py, host,
        "other_mac" dropped_other_mac
        "other_address" dropped_other_address
        "other_protocol" dropped_other_protocol
        "malformed" dropped_malformed
        "too_large" dropped_too_large
        "no_listener" dropped_no_listener
    );
    statistics.set_item("dropped", dropped)?;
    Ok(statistics)
}

fn of_sna<'py>(py: Python<'py>, sna: &SnaStatistics) -> PyResult<Bound<'py, PyDict>> {
    Ok(counters!(py, sna, frames_sent frames_received sessions refused unexpected))
}

fn of_direction<'py>(
    py: Python<'py>,
    direction: &DirectionStatistics,
) -> PyResult<Bound<'py, PyDict>> {
    let statistics = counters!(py, direction, received received_bytes sent sent_bytes held);
    let dropped = dropped!(py, direction,
        "queue_full" dropped_queue_full
        "cpu_full" dropped_cpu_full
        "too_large" dropped_too_large
        "no_session" dropped_no_session
        "loss" dropped_loss
    );
    statistics.set_item("dropped", dropped)?;
    Ok(statistics)
}

fn of_adapter<'py>(
    py: Python<'py>,
    kind: &str,
    adapter: &AdapterStatistics,
) -> PyResult<Bound<'py, PyDict>> {
    let statistics = if kind == "cip" {
        counters!(py, adapter, channel_blocks channel_busy_ns cpu_busy_ns llc2_sessions llc2_refused)
    } else {
        PyDict::new(py)
    };
    statistics.set_item("kind", kind)?;
    statistics.set_item("outbound", of_direction(py, &adapter.outbound)?)?;
    statistics.set_item("inbound", of_direction(py, &adapter.inbound)?)?;
    Ok(statistics)
}

fn of_osa<'py>(py: Python<'py>, osa: &OsaStatistics) -> PyResult<Bound<'py, PyDict>> {
    let statistics = counters!(py, osa, out_of_order large_sends forwarded streaming_connections);
    let processors =
        counters!(py, osa.processors, interrupt_ns receive_ns send_ns application_ns forward_ns);
    statistics.update(processors.as_mapping())?;
    statistics.set_item("kind", "osa")?;
    statistics.set_item("outbound", of_direction(py, &osa.outbound)?)?;
    statistics.set_item("inbound", of_direction(py, &osa.inbound)?)?;
    let outbound_queues = PyList::empty(py);
    for queue in osa.outbound_queues {
        outbound_queues.append(counters!(py, queue, packets dropped delay_sum_ns delay_max_ns))?;
    }
    statistics.set_item("outbound_queues", outbound_queues)?;
    let inbound_queues = PyDict::new(py);
    for (kind, queue) in QueueKind::ALL.iter().zip(osa.inbound_queues) {
        inbound_queues.set_item(
            kind.name(),
            counters!(py, queue, packets dropped hand_overs interrupts lan_idle_ns),
        )?;
    }
    statistics.set_item("inbound_queues", inbound_queues)?;
    Ok(statistics)
}

fn of_port<'py>(py: Python<'py>, port: &PortCounters) -> PyResult<Bound<'py, PyDict>> {
    Ok(
        counters!(py, port, sent_frames sent_bytes lost_frames received_frames received_bytes unconnected_frames),
    )
}

fn of_flows<'py>(
    py: Python<'py>,
    world: &World<Member>,
    flows: &[NamedFlow],
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for flow in flows {
        let Some(counted) = host(world, flow.host)
            .and_then(|host| host.flow_statistics().get(flow.number).copied())
        else {
            continue;
        };
        let statistics = counters!(py, counted, connections failures transactions);
        statistics.set_item("group", &flow.group)?;
        all.set_item(&flow.name, statistics)?;
    }
    Ok(all)
}
