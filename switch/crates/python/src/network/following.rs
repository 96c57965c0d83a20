//! Packets that a network follows, from Python.

use phb_network::following::Wanted;
use phb_network::{Following, NodeId, Way, World};
use phb_trace::Filter;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::member::Member;

/// Follows the first `packets` that end stations send and the filter wants.
pub(crate) fn start(filter: &str, packets: usize, world: &mut World<Member>) -> PyResult<()> {
    let mut read = Filter::parse(filter)
        .map_err(|error| PyValueError::new_err(format!("filter '{filter}', {error}")))?;
    let wanted: Wanted = Box::new(move |port, frame| read.wants(port, frame));
    let ends = world
        .nodes()
        .filter(|(_, _, member)| is_end(member))
        .map(|(id, _, _)| id)
        .collect();
    world.follow(Following::new(ends, packets, wanted));
    Ok(())
}

fn is_end(member: &Member) -> bool {
    matches!(
        member,
        Member::Host(_) | Member::Replay(_) | Member::Stations(_) | Member::SnaHost(_)
    )
}

/// What was followed so far, without the first `since` sightings; empty without [`start`].
pub(crate) fn after<'py>(
    py: Python<'py>,
    world: &World<Member>,
    since: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    let Some(following) = world.following() else {
        return Ok(told);
    };
    let name = |id: NodeId| world.name(id);
    let sightings: Vec<_> = following
        .sightings()
        .iter()
        .skip(since)
        .map(|seen| {
            let way = match seen.way {
                Way::Left => "left",
                Way::Lost => "lost",
                Way::Arrived => "arrived",
            };
            let head = PyBytes::new(py, &seen.head);
            (
                seen.at,
                name(seen.node),
                seen.port,
                way,
                seen.content,
                seen.length,
                head,
            )
        })
        .collect();
    told.set_item("sightings", sightings)?;
    told.set_item("packets", following.started())?;
    told.set_item("under_way", following.under_way())?;
    told.set_item("left_out", following.left_out())?;
    Ok(told)
}
