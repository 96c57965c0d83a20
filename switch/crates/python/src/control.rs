//! The classes of the control plane: `Match`, `Update`, `Table`.

use phb_node::{Failure, Replica};
use phb_pipeline::{Entry, Group, GroupMember, Indirect, MeterRates, TableInfo};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// google.rpc.Code: FAILED_PRECONDITION and ABORTED; pipelines have no such errors.
const FAILED_PRECONDITION: i32 = 9;
const ABORTED: i32 = 10;

/// A condition on one key of a table entry.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct Match(phb_pipeline::Match);

#[pymethods]
impl Match {
    #[staticmethod]
    fn exact(value: Vec<u8>) -> Self {
        Self(phb_pipeline::Match::Exact(value))
    }

    #[staticmethod]
    fn lpm(value: Vec<u8>, prefix_length: u32) -> Self {
        Self(phb_pipeline::Match::Lpm {
            value,
            prefix_len: prefix_length,
        })
    }

    #[staticmethod]
    fn ternary(value: Vec<u8>, mask: Vec<u8>) -> Self {
        Self(phb_pipeline::Match::Ternary { value, mask })
    }

    #[staticmethod]
    fn range(low: Vec<u8>, high: Vec<u8>) -> Self {
        Self(phb_pipeline::Match::Range { low, high })
    }

    #[staticmethod]
    #[pyo3(signature = (value))]
    fn optional(value: Option<Vec<u8>>) -> Self {
        Self(phb_pipeline::Match::Optional(value))
    }
}

type Matches<'py> = Vec<(String, PyRef<'py, Match>)>;
type Parameters = Vec<(String, Vec<u8>)>;

pub(crate) fn entry(matches: Matches<'_>, priority: i32) -> Entry {
    let matches = matches
        .into_iter()
        .map(|(name, given)| (name, given.0.clone()))
        .collect();
    Entry {
        matches,
        priority,
        action: String::new(),
        params: Vec::new(),
        ..Entry::default()
    }
}

/// One change of what the control plane may change.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct Update(pub(crate) phb_node::Update);

#[pymethods]
impl Update {
    #[staticmethod]
    #[pyo3(signature = (table, matches, priority, action, parameters=Vec::new(), *, member=None, group=None, idle_timeout_ns=0))]
    #[allow(clippy::too_many_arguments)] // keyword arguments of a Python function
    fn insert(
        table: String,
        matches: Matches<'_>,
        priority: i32,
        action: Option<String>,
        parameters: Parameters,
        member: Option<u32>,
        group: Option<u32>,
        idle_timeout_ns: u64,
    ) -> Self {
        let group = group.map(Indirect::Group);
        let entry = Entry {
            action: action.unwrap_or_default(),
            params: parameters,
            indirect: member.map(Indirect::Member).or(group),
            idle_timeout_ns,
            ..entry(matches, priority)
        };
        Self(phb_node::Update::Insert { table, entry })
    }

    #[staticmethod]
    #[pyo3(signature = (table, matches, priority, action, parameters))]
    fn modify(
        table: String,
        matches: Matches<'_>,
        priority: i32,
        action: Option<String>,
        parameters: Parameters,
    ) -> Self {
        let entry = entry(matches, priority);
        Self(match action {
            None => phb_node::Update::Find { table, entry },
            Some(action) => phb_node::Update::Modify {
                table,
                entry: Entry {
                    action,
                    params: parameters,
                    ..entry
                },
            },
        })
    }

    #[staticmethod]
    fn delete(table: String, matches: Matches<'_>, priority: i32) -> Self {
        Self(phb_node::Update::Delete {
            table,
            entry: entry(matches, priority),
        })
    }

    #[staticmethod]
    #[pyo3(signature = (table, action, parameters=Vec::new()))]
    fn default_action(table: String, action: Option<String>, parameters: Parameters) -> Self {
        Self(phb_node::Update::DefaultAction {
            table,
            action: action.map(|action| (action, parameters)),
        })
    }

    #[staticmethod]
    fn counter(name: String, index: usize, packets: u64, octets: u64) -> Self {
        Self(phb_node::Update::Counter {
            name,
            index,
            value: (packets, octets),
        })
    }

    #[staticmethod]
    fn direct_counter(
        table: String,
        matches: Matches<'_>,
        priority: i32,
        packets: u64,
        octets: u64,
    ) -> Self {
        let entry = Some(entry(matches, priority));
        Self(phb_node::Update::DirectCounter {
            table,
            entry,
            value: (packets, octets),
        })
    }

    #[staticmethod]
    fn register(name: String, index: usize, value: Vec<u8>) -> Self {
        Self(phb_node::Update::Register { name, index, value })
    }

    #[staticmethod]
    #[pyo3(signature = (name, index, rates))]
    fn meter(name: String, index: usize, rates: Option<(u64, u64, u64, u64)>) -> Self {
        let rates = rates.map(meter_rates);
        Self(phb_node::Update::Meter { name, index, rates })
    }

    #[staticmethod]
    #[pyo3(signature = (table, matches, priority, rates))]
    fn direct_meter(
        table: String,
        matches: Matches<'_>,
        priority: i32,
        rates: Option<(u64, u64, u64, u64)>,
    ) -> Self {
        Self(phb_node::Update::DirectMeter {
            table,
            entry: Some(entry(matches, priority)),
            rates: rates.map(meter_rates),
        })
    }

    #[staticmethod]
    #[pyo3(signature = (group, replicas))]
    fn multicast_group(group: u16, replicas: Option<Vec<(u16, u16)>>) -> Self {
        let replicas = replicas.map(|all| all.into_iter().map(replica).collect());
        Self(phb_node::Update::MulticastGroup { group, replicas })
    }

    #[staticmethod]
    #[pyo3(signature = (session, replicas, class_of_service=0, packet_length_bytes=None))]
    fn clone_session(
        session: u16,
        replicas: Option<Vec<(u16, u16)>>,
        class_of_service: u8,
        packet_length_bytes: Option<u32>,
    ) -> Self {
        let value = replicas.map(|all| phb_node::CloneSession {
            replicas: all.into_iter().map(replica).collect(),
            class_of_service,
            packet_length_bytes,
            ..phb_node::CloneSession::default()
        });
        Self(phb_node::Update::CloneSession { session, value })
    }

    #[staticmethod]
    #[pyo3(signature = (profile, member, action, parameters=Vec::new(), modify=false))]
    fn member(
        profile: String,
        member: u32,
        action: Option<String>,
        parameters: Parameters,
        modify: bool,
    ) -> Self {
        let Some(action) = action else {
            let id = member;
            return Self(phb_node::Update::DeleteMember { profile, id });
        };
        let member = phb_node::Member {
            profile,
            id: member,
            action: (action, parameters),
        };
        Self(if modify {
            phb_node::Update::ModifyMember(member)
        } else {
            phb_node::Update::InsertMember(member)
        })
    }

    #[staticmethod]
    #[pyo3(signature = (profile, group, members, modify=false))]
    fn group(profile: String, group: u32, members: Option<Vec<(u32, u32)>>, modify: bool) -> Self {
        let Some(members) = members else {
            let id = group;
            return Self(phb_node::Update::DeleteGroup { profile, id });
        };
        let members = members.into_iter().map(|(member, weight)| GroupMember {
            member,
            weight,
            watch_port: Vec::new(),
        });
        let group = Group {
            id: group,
            members: members.collect(),
            max_size: 0,
        };
        Self(if modify {
            phb_node::Update::ModifyGroup { profile, group }
        } else {
            phb_node::Update::InsertGroup { profile, group }
        })
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

fn replica((port, instance): (u16, u16)) -> Replica {
    Replica { port, instance }
}

fn meter_rates(
    (committed_rate, committed_burst, peak_rate, peak_burst): (u64, u64, u64, u64),
) -> MeterRates {
    MeterRates {
        committed_rate,
        committed_burst,
        peak_rate,
        peak_burst,
        ..MeterRates::default()
    }
}

pub(crate) fn outcome(result: Result<(), Failure>) -> (i32, String) {
    match result {
        Ok(()) => (0, String::new()),
        Err(Failure::Refused(error)) => (error.code as i32, error.message),
        Err(Failure::NoPipeline) => (FAILED_PRECONDITION, "the switch has no program".to_owned()),
        Err(Failure::Aborted) => (
            ABORTED,
            "not applied, since another update of the batch failed".to_owned(),
        ),
    }
}

/// A table of the loaded program.
#[pyclass(module = "phb_switch._native", frozen, get_all)]
pub struct Table {
    name: String,
    keys: Vec<(String, &'static str, u32)>,
    actions: Vec<(String, Vec<(String, u32)>)>,
    size: u32,
    is_const: bool,
    has_direct_counter: bool,
}

impl From<TableInfo> for Table {
    fn from(info: TableInfo) -> Self {
        Self {
            name: info.name,
            keys: info
                .keys
                .into_iter()
                .map(|key| (key.name, key.kind.name(), key.bits))
                .collect(),
            actions: info
                .actions
                .into_iter()
                .map(|action| (action.name, action.params))
                .collect(),
            size: info.size,
            is_const: info.constant_entries,
            has_direct_counter: info.direct_counter.is_some(),
        }
    }
}

pub(crate) fn lookup_error(error: phb_pipeline::WriteError) -> PyErr {
    match error.code {
        phb_pipeline::Code::NotFound => pyo3::exceptions::PyKeyError::new_err(error.message),
        phb_pipeline::Code::OutOfRange => pyo3::exceptions::PyIndexError::new_err(error.message),
        _ => PyValueError::new_err(error.message),
    }
}
