//! What only the artifact of a program says: numbers of its objects, kinds of calculations, keys of kind `valid`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use md5::{Digest, Md5};
use phb_pipeline::{Pipeline, TableInfo};
use serde_json::Value as Json;

/// Kinds of objects, by their numbers in the service (BmResourceType).
const RESOURCES: [&[&str]; 6] = [
    &["tables"],
    &["action_profiles", "act_profs"],
    &["counter_arrays"],
    &["meter_arrays"],
    &["register_arrays"],
    &["learn_lists"],
];

/// An artifact, looked into once.
pub struct Artifact {
    text: Arc<str>,
    tables: HashMap<String, TableInfo>,
    /// Table, and place of the key field.
    valid: HashSet<(String, usize)>,
    /// Algorithm by name.
    calculations: HashMap<String, String>,
    /// By kind, then name.
    numbers: [HashMap<String, i32>; RESOURCES.len()],
}

impl Artifact {
    pub fn read(pipeline: &Pipeline) -> Self {
        // It has been loaded, so it is JSON; what isn't there is not found.
        let root: Json = serde_json::from_str(pipeline.artifact()).unwrap_or_default();
        let named = |value: &Json| Some(value.get("name")?.as_str()?.to_owned());
        let all = |within: &Json, what: &str| -> Vec<Json> {
            let items = within.get(what).and_then(Json::as_array);
            items.cloned().unwrap_or_default()
        };
        let pipelines = all(&root, "pipelines");
        let mut valid = HashSet::new();
        for table in pipelines.iter().flat_map(|each| all(each, "tables")) {
            let keys = all(&table, "key");
            let is_valid =
                |key: &Json| key.get("match_type").and_then(Json::as_str) == Some("valid");
            let places = (0..keys.len()).filter(|place| is_valid(&keys[*place]));
            valid.extend(named(&table).into_iter().flat_map(|name| {
                let pair = move |place| (name.clone(), place);
                places.clone().map(pair)
            }));
        }
        let calculations = all(&root, "calculations");
        let algorithm = |each: &Json| Some((named(each)?, each.get("algo")?.as_str()?.to_owned()));
        let numbers = RESOURCES.map(|places| {
            let within = pipelines.iter().chain([&root]);
            let items = within.flat_map(|each| places.iter().flat_map(|place| all(each, place)));
            let number = |item: Json| {
                let id = item.get("id")?.as_i64()?;
                Some((named(&item)?, i32::try_from(id).ok()?))
            };
            items.filter_map(number).collect()
        });
        let tables = pipeline.tables().into_iter();
        Self {
            text: Arc::clone(pipeline.artifact()),
            tables: tables.map(|table| (table.name.clone(), table)).collect(),
            valid,
            calculations: calculations.iter().filter_map(algorithm).collect(),
            numbers,
        }
    }

    /// Whether it is that of a program.
    pub fn is_of(&self, pipeline: &Pipeline) -> bool {
        Arc::ptr_eq(&self.text, pipeline.artifact())
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn md5(&self) -> Vec<u8> {
        Md5::digest(self.text.as_bytes()).to_vec()
    }

    pub fn table(&self, name: &str) -> Option<&TableInfo> {
        self.tables.get(name)
    }

    /// Whether a key field says if a header is valid, in words of P4_14.
    pub fn is_valid(&self, table: &str, place: usize) -> bool {
        self.valid.contains(&(table.to_owned(), place))
    }

    /// The algorithm of a calculation.
    pub fn calculation(&self, name: &str) -> Option<&str> {
        self.calculations.get(name).map(String::as_str)
    }

    /// The number of an object; the outer `None` for a kind that there is not.
    pub fn number(&self, kind: i32, name: &str) -> Option<Option<i32>> {
        let numbers = self.numbers.get(usize::try_from(kind).ok()?)?;
        Some(numbers.get(name).copied())
    }

    /// Whether a list of learned fields has this number.
    pub fn has_learn_list(&self, number: i32) -> bool {
        let lists = &self.numbers[RESOURCES.len() - 1];
        lists.values().any(|known| *known == number)
    }
}
