//! A call: its service, its method, and what comes of it.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use phb_node::{Control, Failure, SwitchNode, Update};
use phb_pipeline::Pipeline;
use thrift::protocol::TMessageType;

use crate::artifact::Artifact;
use crate::learning::Learning;
use crate::multicast::Multicast;
use crate::standard::DefaultMembers;
use crate::wire::{self, Fields, Message, Value};
use crate::{multicast, simple_switch, standard};

/// Codes of Thrift's TApplicationException.
const UNKNOWN_METHOD: i32 = 1;
const INTERNAL_ERROR: i32 = 6;

/// Why a call gives no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The exception that the method declares, which has a code and nothing else.
    Code(i32),
    /// The service has no such method.
    NoMethod,
    /// Something for which the method declares no exception.
    Other(String),
}

impl Fault {
    pub fn other(words: impl Into<String>) -> Self {
        Self::Other(words.into())
    }
}

pub type Outcome = Result<Value, Fault>;

/// A port of the switch, for clients to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortInfo {
    /// Its number.
    pub number: u16,
    /// The name of its interface.
    pub interface: String,
    /// Whether the interface is there and up.
    pub is_up: bool,
}

/// A switch as its clients see it.
pub struct Switch {
    /// Where changes go, and where the switch is.
    pub control: Arc<dyn Control>,
    /// The ports that have interfaces.
    pub ports: Box<dyn Fn() -> Vec<PortInfo> + Send + Sync>,
    /// As it was given on the command line.
    pub device_id: u64,
    /// When the switch started: its clock shows 0 then.
    pub started: Instant,
}

/// What is known besides the switch.
#[derive(Default)]
pub struct Kept {
    pub multicast: Multicast,
    pub default_members: DefaultMembers,
    pub learning: Learning,
    /// A program that waits to be swapped in.
    pub next: Option<Pipeline>,
    artifact: Option<Arc<Artifact>>,
}

/// All services of one switch.
pub struct Services {
    pub switch: Switch,
    /// Where the server listens.
    pub port: u16,
    /// Where notifications are; empty without any.
    pub notifications: String,
    kept: Mutex<Kept>,
}

pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Services {
    pub fn new(switch: Switch, port: u16, notifications: String) -> Self {
        Self {
            switch,
            port,
            notifications,
            kept: Mutex::default(),
        }
    }

    /// Carries a call out; gives the answer's bytes.
    pub fn answer(&self, message: &Message) -> Vec<u8> {
        let (service, method) = message.name.split_once(':').unwrap_or(("", &message.name));
        let arguments = Fields::of(&message.arguments);
        let outcome = match service {
            "standard" => standard::call(self, method, arguments),
            "simple_pre" => multicast::call(self, method, arguments, false),
            "simple_pre_lag" => multicast::call(self, method, arguments, true),
            "simple_switch" => simple_switch::call(self, method, arguments),
            _ => Err(Fault::NoMethod),
        };
        let (kind, body) = match outcome {
            Ok(Value::Void) => (TMessageType::Reply, Value::Struct(Vec::new())),
            Ok(value) => (TMessageType::Reply, Value::Struct(vec![(0, value)])),
            Err(Fault::Code(code)) => {
                let exception = Value::Struct(vec![(1, Value::I32(code))]);
                (TMessageType::Reply, Value::Struct(vec![(1, exception)]))
            }
            Err(Fault::NoMethod) => {
                let words = format!("there is no method {}", message.name);
                (TMessageType::Exception, application(UNKNOWN_METHOD, &words))
            }
            Err(Fault::Other(words)) => {
                (TMessageType::Exception, application(INTERNAL_ERROR, &words))
            }
        };
        wire::answer(method, message.sequence, kind, &body)
    }

    pub fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }

    pub fn node(&self) -> MutexGuard<'_, SwitchNode> {
        lock(self.switch.control.node())
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.switch.started.elapsed()
    }

    /// Time since 1970.
    pub fn since_epoch() -> Duration {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        since.unwrap_or_default()
    }

    /// What the artifact of the program says.
    ///
    /// # Errors
    /// Without a program.
    pub fn artifact(&self, node: &SwitchNode) -> Result<Arc<Artifact>, Fault> {
        let Some(pipeline) = node.pipeline() else {
            return Err(no_program());
        };
        let mut kept = self.kept();
        let known = kept.artifact.as_ref();
        if let Some(known) = known.filter(|known| known.is_of(pipeline)) {
            return Ok(Arc::clone(known));
        }
        let artifact = Arc::new(Artifact::read(pipeline));
        kept.artifact = Some(Arc::clone(&artifact));
        kept.default_members = DefaultMembers::default();
        kept.learning = Learning::default();
        Ok(artifact)
    }

    /// Reads the program's state.
    pub fn read<T>(
        &self,
        read: impl FnOnce(&Artifact, &Pipeline) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let node = self.node();
        let artifact = self.artifact(&node)?;
        read(&artifact, node.pipeline().ok_or_else(no_program)?)
    }

    /// Changes the program's state: no other write comes between `plan`, its changes, and `done`, which gets what `plan`
    /// gave besides. A change that is refused becomes a fault by `refused`.
    pub fn change<C, T>(
        &self,
        plan: impl Fn(&Artifact, &SwitchNode, &Pipeline) -> Result<(Vec<Update>, C), Fault>,
        refused: impl Fn(&Failure) -> Fault,
        done: impl Fn(&Pipeline, C) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let planned = Cell::new(Err(no_program()));
        let mut given = Err(no_program());
        let results = self.switch.control.write(
            &mut |node| {
                let made = self.artifact(node).and_then(|artifact| {
                    plan(&artifact, node, node.pipeline().ok_or_else(no_program)?)
                });
                let (updates, context) = match made {
                    Ok((updates, context)) => (updates, Ok(context)),
                    Err(fault) => (Vec::new(), Err(fault)),
                };
                planned.set(context);
                updates
            },
            &mut |node| {
                let planned = planned.replace(Err(no_program()));
                given = planned
                    .and_then(|context| done(node.pipeline().ok_or_else(no_program)?, context));
            },
        );
        let mut failures = results.iter().filter_map(|result| result.as_ref().err());
        match failures.find(|failure| **failure != Failure::Aborted) {
            Some(failure) => Err(refused(failure)),
            None => given,
        }
    }

    /// As [`Services::change`], for methods that give nothing.
    pub fn make(
        &self,
        plan: impl Fn(&Artifact, &SwitchNode, &Pipeline) -> Result<Vec<Update>, Fault>,
        refused: impl Fn(&Failure) -> Fault,
    ) -> Outcome {
        let plan = |artifact: &Artifact, node: &SwitchNode, pipeline: &Pipeline| {
            Ok((plan(artifact, node, pipeline)?, ()))
        };
        self.change(plan, refused, |_, ()| Ok(Value::Void))
    }
}

fn no_program() -> Fault {
    Fault::other("the switch has no program")
}

fn application(code: i32, words: &str) -> Value {
    Value::Struct(vec![(1, words.into()), (2, Value::I32(code))])
}
