//! The file of roles and devices by client certificate, and of rights by role (TOML).

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::ending::{Ended, input, reason};
use crate::quoted::quoted;
use crate::serve::{Authorization, Binding, Object, RoleRights};

const TABLES: [&str; 2] = ["client", "role"];
const CLIENT_KEYS: [&str; 4] = ["name", "roles", "devices", "read_only"];
const ROLE_KEYS: [&str; 7] = [
    "name",
    "objects",
    "packet_in",
    "packet_out",
    "pipeline",
    "replication",
    "gnmi",
];

/// A value with its place in the file.
type Found<'a, 'b> = &'a Spanned<DeValue<'b>>;

/// Reads bindings; an error has file, line, what was found and what was expected.
pub fn read(path: &Path) -> Result<Authorization, Ended> {
    let name = path.display();
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return input(format!("--client-bindings {name}: {}", reason(&error))),
    };
    match String::from_utf8(bytes) {
        Ok(text) => read_text(&name.to_string(), &text),
        Err(_) => input(format!(
            "--client-bindings {name}: not TOML: it is not UTF-8"
        )),
    }
}

fn read_text(name: &str, text: &str) -> Result<Authorization, Ended> {
    let file = File { name, text };
    let document = match DeTable::parse(text) {
        Ok(document) => document.into_inner(),
        Err(error) => {
            let at = error.span().map_or(text.len(), |span| span.start);
            let (line, column) = file.position(at);
            let message = error.message().replace('\n', ", ");
            return input(format!(
                "{name}: {message} (at line {line}, column {column})"
            ));
        }
    };
    for key in document.keys() {
        if !TABLES.contains(&key.get_ref().as_ref()) {
            let found = quoted(key.get_ref().as_ref());
            return file.wrong(
                key.span(),
                &format!("found {found}, expected [[client]] or [[role]]"),
            );
        }
    }
    let clients = file.tables(&document, "client")?;
    if clients.is_empty() {
        return input(format!(
            "{name}: no [[client]]: no client could do anything"
        ));
    }
    let mut authorization = Authorization::default();
    for client in &clients {
        authorization.clients.push(client.binding()?);
    }
    for role in &file.tables(&document, "role")? {
        let rights = role.rights()?;
        if authorization
            .roles
            .iter()
            .any(|other| other.name == rights.name)
        {
            let found = quoted(&rights.name);
            return role.wrong("name", &format!("name: found {found} a second time"));
        }
        authorization.roles.push(rights);
    }
    Ok(authorization)
}

#[derive(Clone, Copy)]
struct File<'a> {
    name: &'a str,
    text: &'a str,
}

impl<'a> File<'a> {
    /// Line and column, from 1, of a place in the file.
    fn position(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        (line, before[start..].chars().count() + 1)
    }

    fn wrong<T>(&self, span: Range<usize>, message: &str) -> Result<T, Ended> {
        let (line, _) = self.position(span.start);
        input(format!("{}:{line}: {message}", self.name))
    }

    /// A value's text in the file, its first line only.
    fn shown(&self, value: Found) -> &'a str {
        let written = self.text.get(value.span()).unwrap_or_default();
        written.lines().next().unwrap_or_default()
    }

    fn tables<'t, 'd>(
        &'t self,
        document: &'d DeTable<'a>,
        name: &str,
    ) -> Result<Vec<Table<'t, 'd, 'a>>, Ended> {
        let Some((key, value)) = document
            .iter()
            .find(|(key, _)| key.get_ref().as_ref() == name)
        else {
            return Ok(Vec::new());
        };
        let all = value.get_ref().as_array();
        let tables = all.and_then(|all| {
            let tables = all.iter().map(|each| {
                let values = each.get_ref().as_table()?;
                Some(Table {
                    file: self,
                    values,
                    span: each.span(),
                })
            });
            tables.collect::<Option<Vec<_>>>()
        });
        match tables {
            Some(tables) => Ok(tables),
            None => self.wrong(
                key.span(),
                &format!("expected [[{name}]], in double brackets"),
            ),
        }
    }
}

struct Table<'t, 'd, 'a> {
    file: &'t File<'a>,
    values: &'d DeTable<'a>,
    span: Range<usize>,
}

impl<'a> Table<'_, '_, 'a> {
    fn binding(&self) -> Result<Binding, Ended> {
        self.check_keys(&CLIENT_KEYS)?;
        let roles = self.list("roles", "strings", |value| Some(value.as_str()?.to_owned()))?;
        let devices = self.list("devices", "device ids", whole::<u64>)?;
        Ok(Binding {
            name: self.name()?,
            roles: roles.map(BTreeSet::from_iter),
            devices: devices.map(BTreeSet::from_iter),
            read_only: self.flag("read_only")?,
        })
    }

    fn rights(&self) -> Result<RoleRights, Ended> {
        self.check_keys(&ROLE_KEYS)?;
        let object = |value: &DeValue| match value.as_str() {
            Some("") => None,
            Some(name) => Some(Object::Name(name.to_owned())),
            None => whole(value).filter(|id| *id > 0).map(Object::Id),
        };
        let path =
            |value: &DeValue| Some(value.as_str()?.to_owned()).filter(|path| !path.is_empty());
        Ok(RoleRights {
            name: self.name()?,
            objects: self.list("objects", "names or ids of objects", object)?,
            packet_in: self.flag("packet_in")?,
            packet_out: self.flag("packet_out")?,
            pipeline: self.flag("pipeline")?,
            replication: self.flag("replication")?,
            gnmi: self.list("gnmi", "paths", path)?.unwrap_or_default(),
        })
    }

    fn get(&self, key: &str) -> Option<Found<'_, 'a>> {
        self.values.get(key)
    }

    fn wrong<T>(&self, key: &str, message: &str) -> Result<T, Ended> {
        let found = self.values.keys().find(|other| other.get_ref() == key);
        let span = found.map_or_else(|| self.span.clone(), Spanned::span);
        self.file.wrong(span, message)
    }

    fn check_keys(&self, keys: &[&str]) -> Result<(), Ended> {
        let unknown = |key: &&Spanned<_>| !keys.contains(&AsRef::<str>::as_ref(key.get_ref()));
        match self.values.keys().find(unknown) {
            None => Ok(()),
            Some(key) => {
                let (found, keys) = (quoted(key.get_ref().as_ref()), keys.join(", "));
                self.file.wrong(
                    key.span(),
                    &format!("found {found}, expected one of {keys}"),
                )
            }
        }
    }

    fn name(&self) -> Result<String, Ended> {
        let Some(value) = self.get("name") else {
            return self.wrong("name", "name is missing");
        };
        match value.get_ref().as_str() {
            Some(name) if !name.is_empty() => Ok(name.to_owned()),
            _ => {
                let found = self.file.shown(value);
                self.wrong("name", &format!("name: found {found}, expected a string"))
            }
        }
    }

    fn flag(&self, key: &str) -> Result<bool, Ended> {
        match self
            .get(key)
            .map(|value| (value, value.get_ref().as_bool()))
        {
            None => Ok(false),
            Some((_, Some(flag))) => Ok(flag),
            Some((value, None)) => {
                let found = self.file.shown(value);
                self.wrong(
                    key,
                    &format!("{key}: found {found}, expected true or false"),
                )
            }
        }
    }

    /// A list; `read` gives none for a wrong element.
    fn list<T>(
        &self,
        key: &str,
        kind: &str,
        read: impl Fn(&DeValue<'a>) -> Option<T>,
    ) -> Result<Option<Vec<T>>, Ended> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let Some(array) = value.get_ref().as_array() else {
            let found = self.file.shown(value);
            return self.wrong(
                key,
                &format!("{key}: found {found}, expected a list of {kind}"),
            );
        };
        let mut values = Vec::new();
        for each in array {
            match read(each.get_ref()) {
                Some(value) => values.push(value),
                None => {
                    let found = self.file.shown(each);
                    let message = format!("{key}: found {found}, expected {kind}");
                    return self.file.wrong(each.span(), &message);
                }
            }
        }
        Ok(Some(values))
    }
}

fn whole<T: TryFrom<i128>>(value: &DeValue) -> Option<T> {
    let integer = value.as_integer()?;
    let number = i128::from_str_radix(integer.as_str(), integer.radix()).ok()?;
    number.try_into().ok()
}

#[cfg(test)]
#[path = "bindings_tests.rs"]
mod tests;
