//! Takes lines from `tracing`.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata};

use super::format::Line;
use super::levels::{Level, Levels, Part};
use super::queue::Queue;

/// Puts the lines of our parts into a queue. Lines of other crates, and spans, are left out.
pub struct Subscriber {
    levels: Levels,
    queue: Arc<Queue>,
}

impl Subscriber {
    pub fn new(levels: Levels, queue: Arc<Queue>) -> Self {
        Self { levels, queue }
    }
}

impl tracing::Subscriber for Subscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && Part::of_target(metadata.target())
                .is_some_and(|part| self.levels.has(part, (*metadata.level()).into()))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(match self.levels.lowest() {
            Level::Trace => LevelFilter::TRACE,
            Level::Debug => LevelFilter::DEBUG,
            Level::Info => LevelFilter::INFO,
            Level::Warn => LevelFilter::WARN,
            Level::Error => LevelFilter::ERROR,
            Level::Off => LevelFilter::OFF,
        })
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let Some(part) = Part::of_target(metadata.target()) else {
            return;
        };
        let mut said = Said::default();
        event.record(&mut said);
        self.queue.put(Line {
            at: SystemTime::now(),
            level: (*metadata.level()).into(),
            part,
            message: said.message,
            fields: said.fields,
        });
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Said {
    message: String,
    fields: Map<String, Value>,
}

impl Said {
    fn add(&mut self, field: &Field, value: impl Into<Value>) {
        self.fields.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Said {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            self.add(field, format!("{value:?}"));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message = value.to_owned();
        } else {
            self.add(field, value);
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }
}
