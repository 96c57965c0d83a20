//! Action profiles and their selectors.

use super::control::Control;
use super::json::Json;
use super::tables::LARGEST_TABLE;
use crate::error::LoadError;
use crate::program::{Algorithm, ProfileShape, Selector, Slot};

impl Control<'_, '_> {
    pub(super) fn load_profile(&self, table: &Json<'_>) -> Result<Option<ProfileShape>, LoadError> {
        let kind = table.get("type")?;
        match kind.text()? {
            "simple" => return Ok(None),
            "indirect" | "indirect_ws" => {}
            other => {
                return kind.refuse(format!(
                    "a table of type {other:?}; expected simple, indirect or indirect_ws"
                ));
            }
        }
        // Before action profiles stood beside tables, each was a table's own.
        if table.find("action_profile").is_none()
            && let Some(name) = table.find("act_prof_name")
        {
            return Ok(Some(ProfileShape {
                name: name.text()?.to_owned(),
                size: LARGEST_TABLE,
                selector: self.selector_of(table)?,
            }));
        }
        let wanted = table.get("action_profile")?;
        let mut found = None;
        for item in self.json.list("action_profiles")? {
            if item.get("name")?.text()? == wanted.text()? {
                found = Some(item);
            }
        }
        let Some(item) = found else {
            return wanted.refuse(format!(
                "no action profile of this control is called {:?}",
                wanted.text()?
            ));
        };
        let selector = self.selector_of(&item)?;
        let name = wanted.text()?.to_owned();
        Ok(Some(ProfileShape {
            name,
            size: item.get("max_size")?.number()?,
            selector,
        }))
    }

    fn selector_of(&self, item: &Json<'_>) -> Result<Option<Selector>, LoadError> {
        let selector = item.find("selector");
        selector.map(|found| self.load_selector(&found)).transpose()
    }

    fn load_selector(&self, json: &Json<'_>) -> Result<Selector, LoadError> {
        let algorithm = Algorithm::load(&json.get("algo")?)?;
        let mut fields = Vec::new();
        for input in json.get("input")?.items()? {
            let kind = input.get("type")?;
            if kind.text()? != "field" {
                return kind.refuse(format!(
                    "{:?} as input of a selector; expected field",
                    kind.text()?
                ));
            }
            let field = self.names.headers.field(&input.get("value")?)?;
            if matches!(field.slot, Slot::Variable { .. }) {
                return input.refuse("a varbit as input of a selector is not supported");
            }
            fields.push((field.slot, field.bits, field.valid));
        }
        Ok(Selector { algorithm, fields })
    }
}
