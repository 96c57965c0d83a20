//! Subscriptions (gNMI specification, 3.5): once, by poll, and as a stream of samples and changes.

mod stream;

use std::sync::Arc;

use crate::encoding;
use crate::get::{check_models, target};
use crate::message::typed_value::Value as Typed;
use crate::message::{
    Notification, Path as GivenPath, SubscribeRequest, SubscribeResponse, SubscriptionList,
    TypedValue, Update, encoding::JSON, list_mode, request, response,
};
use crate::path_message::{read, write};
use crate::paths::is_pattern;
use crate::pattern::Pattern;
use crate::refusal::{Result, invalid, wrong};
use crate::schema::{self, Kind, Leaf};
use crate::snapshot::{Datum, Snapshot};
use crate::tree::Tree;
use crate::value::Value;

use stream::Stream;

const MOST_SUBSCRIPTIONS: usize = 128;

/// Per notification, so that the largest tree stays within clients' limits of messages.
const MOST_UPDATES: usize = 8192;

enum Mode {
    Once,
    Poll,
    Stream(Stream),
}

/// One Subscribe call, from its first message on. It has no clock: callers give the time.
pub struct Subscriber {
    tree: Arc<Tree>,
    patterns: Vec<Arc<Pattern>>,
    teller: Teller,
    mode: Mode,
}

impl Subscriber {
    /// Begins with the first message; gives the present values and the sync response.
    /// `now_ns` is of the subscriptions' monotonic clock, `wall_ns` counts from 1970.
    ///
    /// # Errors
    /// `InvalidArgument`, with the path where there is one; `Unimplemented` for encodings that are not here;
    /// `ResourceExhausted` for too much at once.
    pub fn begin(
        tree: Arc<Tree>,
        request: SubscribeRequest,
        now_ns: u64,
        wall_ns: i64,
    ) -> Result<(Self, Vec<SubscribeResponse>)> {
        let Some(request::Request::Subscribe(wanted)) = request.request else {
            let message = "the first message has to be a subscription list";
            return Err(invalid(message));
        };
        let patterns = checked(&wanted)?;
        let teller = Teller {
            prefix: target(wanted.prefix.as_ref()),
            encoding: wanted.encoding,
        };
        // Read before the data, so that changes in between are looked at again.
        let changes = tree.changes();
        let (mode, snapshot) = match wanted.mode {
            list_mode::STREAM => {
                let mut stream = Stream::new(&wanted, &patterns, changes, now_ns)?;
                let snapshot = tree.shared_snapshot(now_ns);
                stream.start(&snapshot, now_ns)?;
                (Mode::Stream(stream), snapshot)
            }
            list_mode::ONCE => (Mode::Once, tree.snapshot()),
            list_mode::POLL => (Mode::Poll, tree.snapshot()),
            other => return Err(invalid(format!("there is no mode {other}"))),
        };
        let subscriber = Self {
            tree,
            patterns,
            teller,
            mode,
        };
        let mut answers = Vec::new();
        if !wanted.updates_only {
            // Leaves that ON_CHANGE doesn't watch are sent once, too.
            subscriber.tell_present(&snapshot, wall_ns, &mut answers);
        }
        answers.push(synchronized());
        Ok((subscriber, answers))
    }

    /// Whether the call is complete.
    #[must_use]
    pub fn is_once(&self) -> bool {
        matches!(self.mode, Mode::Once)
    }

    /// Whether it answers polls.
    #[must_use]
    pub fn is_poll(&self) -> bool {
        matches!(self.mode, Mode::Poll)
    }

    /// Whether it sends samples and changes.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self.mode, Mode::Stream(_))
    }

    /// Answers a further message.
    ///
    /// # Errors
    /// `InvalidArgument` for anything but a poll, and for a poll where none was agreed on.
    pub fn request(
        &mut self,
        request: SubscribeRequest,
        wall_ns: i64,
    ) -> Result<Vec<SubscribeResponse>> {
        if !matches!(request.request, Some(request::Request::Poll(_))) {
            let message = "after the subscription list there may be polls only";
            return Err(invalid(message));
        }
        if !self.is_poll() {
            return Err(invalid("polls are for subscriptions of mode POLL"));
        }
        let mut answers = Vec::new();
        self.tell_present(&self.tree.snapshot(), wall_ns, &mut answers);
        answers.push(synchronized());
        Ok(answers)
    }

    /// When [`next`](Self::next) has something to do, by the clock of [`begin`](Self::begin). Streams only.
    #[must_use]
    pub fn due(&self) -> Option<u64> {
        match &self.mode {
            Mode::Stream(stream) => Some(stream.due(self.tree.changes())),
            _ => None,
        }
    }

    /// Samples and changes; to be called when [`due`](Self::due) and after each change of settings.
    /// If more is due than fits one answer, it is due again at once.
    pub fn next(&mut self, now_ns: u64, wall_ns: i64) -> Vec<SubscribeResponse> {
        match &mut self.mode {
            Mode::Stream(stream) => stream.next(&self.tree, &self.teller, now_ns, wall_ns),
            _ => Vec::new(),
        }
    }

    fn tell_present(
        &self,
        snapshot: &Snapshot,
        wall_ns: i64,
        answers: &mut Vec<SubscribeResponse>,
    ) {
        let present: Vec<Datum<'_>> = snapshot
            .data()
            .filter(|datum| {
                let mut patterns = self.patterns.iter();
                patterns.any(|pattern| pattern.covers(datum.path, datum.leaf))
            })
            .collect();
        self.teller.updates(&present, wall_ns, answers);
    }
}

/// Checks what all modes of a subscription list have in common, and reads its paths.
fn checked(wanted: &SubscriptionList) -> Result<Vec<Arc<Pattern>>> {
    encoding::check(wanted.encoding)?;
    check_models(&wanted.use_models)?;
    let subscriptions = wanted.subscription.len();
    if subscriptions > MOST_SUBSCRIPTIONS {
        return Err(invalid(format!(
            "a list of {subscriptions} subscriptions; no more than {MOST_SUBSCRIPTIONS} are answered at once"
        )));
    }
    let mut patterns = Vec::new();
    for each in &wanted.subscription {
        let path = read(each.path.as_ref(), wanted.prefix.as_ref())?;
        patterns.push(Arc::new(Pattern::new(path)));
    }
    if patterns.is_empty() {
        return Err(invalid("the subscription list is empty"));
    }
    for path in patterns.iter().map(|pattern| pattern.path()) {
        if !is_pattern(path) && schema::find(path).is_none() {
            return Err(wrong(path, "the models here have no such node"));
        }
    }
    Ok(patterns)
}

fn synchronized() -> SubscribeResponse {
    SubscribeResponse {
        response: Some(response::Response::SyncResponse(true)),
    }
}

struct Teller {
    prefix: Option<GivenPath>,
    encoding: i32,
}

impl Teller {
    fn notification(&self, wall_ns: i64) -> Notification {
        Notification {
            timestamp: wall_ns,
            prefix: self.prefix.clone(),
            ..Notification::default()
        }
    }

    fn updates(&self, data: &[Datum<'_>], wall_ns: i64, answers: &mut Vec<SubscribeResponse>) {
        for data in data.chunks(MOST_UPDATES) {
            let updates = data.iter().map(|datum| Update {
                path: Some(write(datum.path)),
                val: Some(self.typed(datum.leaf, datum.value)),
                duplicates: 0,
            });
            let notification = Notification {
                update: updates.collect(),
                ..self.notification(wall_ns)
            };
            answers.push(notification.into());
        }
    }

    fn deletions<'a>(
        &self,
        gone: impl Iterator<Item = &'a crate::paths::Path>,
        wall_ns: i64,
        answers: &mut Vec<SubscribeResponse>,
    ) {
        let delete: Vec<GivenPath> = gone.map(|path| write(path)).collect();
        for delete in delete.chunks(MOST_UPDATES) {
            let notification = Notification {
                delete: delete.to_vec(),
                ..self.notification(wall_ns)
            };
            answers.push(notification.into());
        }
    }

    /// In JSON, also the default, words of an enumeration are plain text: finsy subscribes to
    /// `oper-status` and takes nothing else.
    fn typed(&self, leaf: &Leaf, value: &Value) -> TypedValue {
        if self.encoding == JSON
            && leaf.kind == Kind::Enumeration
            && let Some(text) = value.as_text()
        {
            return Typed::StringVal(text.to_owned()).into();
        }
        encoding::typed(leaf, value, self.encoding)
    }
}
