//! Traffic from Python: who talks to whom, and how it becomes a client on one host and a service or sink on another.

use phb_hosts::{Answers, Flow, Service, Traffic};
use phb_network::{NodeId, Time};
use pyo3::prelude::*;

use super::Network;
use super::arguments::{Integer, address, refused, wrong};

/// A client with the names it has in reports.
pub(crate) struct NamedFlow {
    pub name: String,
    pub group: String,
    pub host: NodeId,
    /// Its number on its host.
    pub number: usize,
    /// Where it arrives, if somebody writes down what arrives: host, and number of the sink on it.
    pub sink: Option<(NodeId, usize)>,
}

/// What every kind of traffic has, as Python gives it.
pub(crate) struct Ends<'a> {
    pub name: String,
    pub group: String,
    pub client: &'a str,
    pub server: &'a str,
    pub client_address: &'a str,
    pub server_address: &'a str,
    pub server_port: Integer,
    pub start_ns: Integer,
    pub stop_ns: Option<Integer>,
    pub tos: Option<Integer>,
}

/// Who takes what a client sends.
enum Receiver {
    Service(Answers),
    StreamSink,
    DatagramSink,
}

impl Ends<'_> {
    fn flow(&self, traffic: Traffic) -> PyResult<Flow> {
        Ok(Flow {
            client_address: address("client_address", self.client_address)?,
            server_address: address("server_address", self.server_address)?,
            server_port: self.server_port.port("server_port")?,
            start: self.start_ns.word("start_ns")?,
            stop: optional("stop_ns", self.stop_ns.as_ref())?,
            tos: self
                .tos
                .as_ref()
                .map(|tos| tos.up_to("tos", u64::from(u8::MAX)))
                .transpose()?,
            traffic,
        })
    }
}

/// A time in ns, or a number of bytes, that may be missing.
pub(crate) fn optional(argument: &str, value: Option<&Integer>) -> PyResult<Option<Time>> {
    value.map(|time| time.word(argument)).transpose()
}

impl Network {
    /// Adds a client and the service or sink of its traffic.
    pub(crate) fn add_traffic(
        &mut self,
        ends: Ends<'_>,
        traffic: Traffic,
        think: Time,
    ) -> PyResult<()> {
        if self.flow_names.contains(&ends.name) {
            let message = format!("there is a flow named '{}' already", ends.name);
            return Err(wrong("name", &message));
        }
        let flow = ends.flow(traffic)?;
        if flow.start < self.world.now() {
            return Err(wrong("start_ns", &format!("{} ns is over", flow.start)));
        }
        self.host("client", ends.client)?;
        let sink = match receiver(&flow.traffic, think) {
            Receiver::Service(answers) => {
                let service = Service {
                    address: flow.server_address,
                    port: flow.server_port,
                    tos: flow.tos,
                    answers,
                };
                let (_, server) = self.host("server", ends.server)?;
                server.add_service(service).map_err(|e| refused(&e))?;
                None
            }
            Receiver::StreamSink => {
                let (id, server) = self.host("server", ends.server)?;
                let sink = server
                    .add_stream_sink(flow.server_address, flow.server_port, flow.tos)
                    .map_err(|e| refused(&e))?;
                Some((id, sink))
            }
            Receiver::DatagramSink => {
                Some(self.add_datagram_sink(ends.client, ends.server, &flow)?)
            }
        };
        let (host, client) = self.host("client", ends.client)?;
        let number = client.add_flow(flow).map_err(|e| refused(&e))?;
        self.flow_names.insert(ends.name.clone());
        self.flows.push(NamedFlow {
            name: ends.name,
            group: ends.group,
            host,
            number,
            sink,
        });
        Ok(())
    }

    fn add_datagram_sink(
        &mut self,
        client: &str,
        server: &str,
        flow: &Flow,
    ) -> PyResult<(NodeId, usize)> {
        let port = self.host("client", client)?.1.next_datagram_port();
        let (id, server) = self.host("server", server)?;
        let sender = (flow.client_address, port);
        let sink = server
            .add_datagram_sink(flow.server_address, flow.server_port, sender)
            .map_err(|e| refused(&e))?;
        Ok((id, sink))
    }
}

fn receiver(traffic: &Traffic, think: Time) -> Receiver {
    match traffic {
        Traffic::Requests {
            request_bytes,
            reply_bytes,
            ..
        } => Receiver::Service(Answers::Requests {
            request_bytes: *request_bytes,
            reply_bytes: *reply_bytes,
            think,
        }),
        Traffic::Messages { answer_bytes, .. } => Receiver::Service(Answers::Messages {
            answer_bytes: *answer_bytes,
        }),
        Traffic::Stream { .. } => Receiver::StreamSink,
        Traffic::Datagrams { .. } => Receiver::DatagramSink,
    }
}
