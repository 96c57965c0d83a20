//! Clients, and the services or sinks of their traffic.

use phb_hosts::{Ends, Flow, Pattern, Traffic};
use phb_network::NodeId;
use pyo3::prelude::*;
use serde::Deserialize;

use super::Network;
use super::arguments::{Parameters, refused, wrong};

/// A client with its names in reports.
pub(crate) struct NamedFlow {
    pub name: String,
    pub group: String,
    pub host: NodeId,
    /// By host.
    pub number: usize,
    /// Host and number of the sink; `None` for answered traffic.
    pub sink: Option<(NodeId, usize)>,
    /// Whether it is of test packets.
    pub is_stamp: bool,
}

#[derive(Deserialize)]
struct Names {
    group: String,
    client: String,
    server: String,
}

impl Network {
    pub(crate) fn add_traffic(
        &mut self,
        kind: &str,
        name: String,
        mut parameters: Parameters<'_>,
    ) -> PyResult<()> {
        if self.flow_names.contains(&name) {
            let message = format!("there is a flow named '{name}' already");
            return Err(wrong("name", &message));
        }
        let names: Names = parameters.take()?;
        let mut flow = Flow {
            ends: parameters.take()?,
            traffic: parameters.read(kind)?,
        };
        if flow.ends.start_ns < self.world.now() {
            let message = format!("{} ns is over", flow.ends.start_ns);
            return Err(wrong("start_ns", &message));
        }
        self.host("client", &names.client)?;
        let sink = self.add_receiver(&names, &flow)?;
        if let Traffic::Datagrams {
            pattern: Pattern::Poisson,
            seed,
            ..
        } = &mut flow.traffic
        {
            *seed = self.seeds.next_u64();
        }
        let is_stamp = matches!(flow.traffic, Traffic::Stamp { .. });
        let (host, client) = self.host("client", &names.client)?;
        let number = client.add_flow(flow).map_err(|error| refused(&error))?;
        self.flow_names.insert(name.clone());
        self.flows.push(NamedFlow {
            name,
            group: names.group,
            host,
            number,
            sink,
            is_stamp,
        });
        Ok(())
    }

    /// Adds the flow's service or sink; gives the sink.
    fn add_receiver(&mut self, names: &Names, flow: &Flow) -> PyResult<Option<(NodeId, usize)>> {
        let port = self.host("client", &names.client)?.1.next_datagram_port();
        let (id, server) = self.host("server", &names.server)?;
        let Ends {
            client_address,
            server_address,
            server_port,
            tos,
            ..
        } = flow.ends;
        let added = if let Some(service) = flow.service() {
            server.add_service(service).map(|()| None)
        } else if matches!(flow.traffic, Traffic::Stamp { .. }) {
            server
                .add_reflector(server_address, server_port)
                .map(|()| None)
        } else if matches!(flow.traffic, Traffic::Datagrams { .. }) {
            let sender = (client_address, port);
            let sink = server.add_datagram_sink(server_address, server_port, sender);
            sink.map(Some)
        } else {
            let sink = server.add_stream_sink(server_address, server_port, tos);
            sink.map(Some)
        };
        let sink = added.map_err(|error| refused(&error))?;
        Ok(sink.map(|number| (id, number)))
    }
}
