//! Answers of Get: values leaf by leaf, or one JSON document for each node that a path stands for.

use phb_p4runtime::status::Code;

use crate::encoding::{self, document, nested, typed};
use crate::message::{
    GetRequest, GetResponse, ModelData, Notification, Path as GivenPath, Update, data,
    encoding::PROTO,
};
use crate::path_message::{read, write};
use crate::paths::{ANY_DEPTH, is_pattern, text};
use crate::pattern::Pattern;
use crate::refusal::{Result, invalid, quoted, refusal, wrong};
use crate::schema;
use crate::snapshot::{Datum, Snapshot};

const MOST_PATHS: usize = 1024;

/// The most values of one answer, or of one stream: many times those of a large switch.
pub(crate) const MOST_VALUES: usize = 65_536;

/// Refuses requests that are wrong whatever the data.
pub(crate) fn check(request: &GetRequest) -> Result<()> {
    encoding::check(request.encoding)?;
    if !(data::ALL..=data::OPERATIONAL).contains(&request.r#type) {
        return Err(invalid(format!("there is no type {}", request.r#type)));
    }
    check_models(&request.use_models)?;
    let paths = request.path.len();
    if paths > MOST_PATHS {
        return Err(invalid(format!(
            "a Get of {paths} paths; no more than {MOST_PATHS} are answered at once"
        )));
    }
    Ok(())
}

pub(crate) fn check_models(models: &[ModelData]) -> Result<()> {
    for model in models {
        if !schema::has_model(&model.name) {
            let name = quoted(&model.name);
            return Err(invalid(format!("there is no model {name} here")));
        }
    }
    Ok(())
}

/// Answers a checked request.
pub(crate) fn answer(
    request: &GetRequest,
    snapshot: &Snapshot,
    timestamp_ns: i64,
) -> Result<GetResponse> {
    let wanted: Vec<Datum<'_>> = snapshot
        .data()
        .filter(|datum| match request.r#type {
            data::CONFIG => datum.is_set,
            data::STATE | data::OPERATIONAL => !datum.is_set,
            _ => true,
        })
        .collect();
    let prefix = request.prefix.as_ref();
    let root = [GivenPath::default()];
    let paths = if request.path.is_empty() {
        &root
    } else {
        request.path.as_slice()
    };
    let mut told = 0;
    let mut response = GetResponse::default();
    for path in paths {
        let pattern = Pattern::new(read(Some(path), prefix)?);
        let found = covered(&pattern, &wanted)?;
        told += found.len();
        if told > MOST_VALUES {
            return Err(too_many(MOST_VALUES));
        }
        response.notification.push(Notification {
            timestamp: timestamp_ns,
            prefix: target(prefix),
            update: updates(&pattern, &found, request.encoding),
            ..Notification::default()
        });
    }
    Ok(response)
}

pub(crate) fn too_many(most: usize) -> phb_p4runtime::Refusal {
    let message = format!("more than {most} values are asked for at once");
    refusal(Code::ResourceExhausted, message)
}

/// The prefix of an answer: the request's target.
pub(crate) fn target(prefix: Option<&GivenPath>) -> Option<GivenPath> {
    let target = prefix.map(|prefix| prefix.target.as_str());
    let target = target.filter(|target| !target.is_empty())?;
    Some(GivenPath {
        target: target.to_owned(),
        ..GivenPath::default()
    })
}

fn covered<'a>(pattern: &Pattern, data: &[Datum<'a>]) -> Result<Vec<Datum<'a>>> {
    let covered = data
        .iter()
        .filter(|datum| pattern.covers(datum.path, datum.leaf));
    let found: Vec<_> = covered.copied().collect();
    let path = pattern.path();
    if found.is_empty() && !is_pattern(path) && !schema::leaves_keys_out(path) {
        if schema::find(path).is_none() {
            return Err(wrong(path, "the models here have no such node"));
        }
        let message = format!("{}: there is nothing", text(path));
        return Err(refusal(Code::NotFound, message));
    }
    Ok(found)
}

fn updates(pattern: &Pattern, found: &[Datum<'_>], how: i32) -> Vec<Update> {
    let path = pattern.path();
    if how == PROTO || path.iter().any(|element| element.name == ANY_DEPTH) {
        return found.iter().map(|datum| leaf(datum, how)).collect();
    }
    let depth = path.len();
    found
        .chunk_by(|one, next| one.path.get(..depth) == next.path.get(..depth))
        .filter_map(|below| {
            let place = below.first()?.path.get(..depth)?;
            let content = nested(below, schema::find(place)?, depth, how);
            Some(Update {
                path: Some(write(place)),
                val: Some(document(&content, how)),
                duplicates: 0,
            })
        })
        .collect()
}

fn leaf(datum: &Datum<'_>, how: i32) -> Update {
    Update {
        path: Some(write(datum.path)),
        val: Some(typed(datum.leaf, datum.value, how)),
        duplicates: 0,
    }
}
