//! Header types and instances become layouts and slots.

use std::collections::HashMap;

use super::fields::{Field, HeaderType, Instance, load_type, locate};
use super::json::Json;
use super::unions::Unions;
use crate::error::LoadError;
use crate::program::{
    HeaderSpan, HeaderTypeInfo, Program, Slot, Stack, StandardMetadata, WordField,
};

/// Words and bytes of all instances together: every packet in a queue has as many.
const MOST_SLOTS: u32 = 1 << 16;

/// The names the rest of the loader resolves.
#[derive(Default)]
pub(crate) struct Headers {
    types: Vec<HeaderType>,
    instances: HashMap<String, Instance>,
    stacks: HashMap<String, u32>,
    unions: Unions,
    aliases: HashMap<String, (String, String)>,
}

impl Headers {
    /// Reads `header_types`, `headers`, `header_stacks` and `field_aliases` into `program`.
    pub(crate) fn load(root: &Json<'_>, program: &mut Program) -> Result<Self, LoadError> {
        let mut headers = Headers::default();
        let mut type_numbers = HashMap::new();
        for item in root.get("header_types")?.items()? {
            let (header_type, layout) = load_type(&item)?;
            type_numbers.insert(item.get("name")?.text()?, headers.types.len() as u32);
            let fields = header_type.fields.iter();
            program.header_types.push(HeaderTypeInfo {
                name: item.get("name")?.text()?.to_owned(),
                fields: fields
                    .map(|field| (field.name.clone(), field.bits))
                    .collect(),
            });
            headers.types.push(header_type);
            program.layouts.push(layout);
        }

        let mut declared = HashMap::new();
        let items = root.get("headers")?.items()?;
        for item in &items {
            declared.insert(item.get("id")?.number()?, item.clone());
        }
        // Metadata come first, to be reset as one; elements of a stack must lie side by side.
        for item in &items {
            if item
                .find("metadata")
                .map_or(Ok(false), |flag| flag.boolean())?
            {
                headers.place(item, &type_numbers, program)?;
            }
        }
        (program.metadata_words, program.metadata_bytes) = (program.words, program.bytes);
        for item in root.list("header_stacks")? {
            headers.place_stack(&item, &declared, &type_numbers, program)?;
        }
        headers.place_undeclared_stacks(&items, &declared, &type_numbers, program)?;
        headers.place_union_stacks(root, &declared, &type_numbers, program)?;
        for item in &items {
            if !headers.instances.contains_key(item.get("name")?.text()?) {
                headers.place(item, &type_numbers, program)?;
            }
        }
        headers.load_unions(root, &declared)?;
        for item in root.list("field_aliases")? {
            let [alias, target] = item.tuple()?;
            let [header, field] = target.tuple()?;
            let target = (header.text()?.to_owned(), field.text()?.to_owned());
            headers.aliases.insert(alias.text()?.to_owned(), target);
        }
        program.standard = headers.standard_metadata();
        program.rank = headers.of_traffic_manager("rank");
        let [bucket, rate, burst, bytes] =
            ["bucket", "rate", "burst", "bytes"].map(|field| headers.of_traffic_manager(field));
        program.shaping = (|| Some([bucket?, rate?, burst?, bytes?]))();
        program.push_out = headers.of_traffic_manager("push_out");
        program.pushed_out = headers.of_traffic_manager("pushed_out");
        program.dropped = headers.of_traffic_manager("dropped");
        Ok(headers)
    }

    fn place_stack(
        &mut self,
        item: &Json<'_>,
        declared: &HashMap<u32, Json<'_>>,
        type_numbers: &HashMap<&str, u32>,
        program: &mut Program,
    ) -> Result<(), LoadError> {
        let next = program.words;
        program.words += 1;
        let ids = item.get("header_ids")?.items()?;
        let stack = self.place_elements(&ids, item, next, declared, type_numbers, program)?;
        self.stacks
            .insert(item.get("name")?.text()?.to_owned(), stack);
        Ok(())
    }

    /// p4c-bm2-psa declares no stacks, but only their elements, `NAME[0]` and so on.
    fn place_undeclared_stacks(
        &mut self,
        items: &[Json<'_>],
        declared: &HashMap<u32, Json<'_>>,
        type_numbers: &HashMap<&str, u32>,
        program: &mut Program,
    ) -> Result<(), LoadError> {
        let mut ids_by_name = HashMap::new();
        for item in items {
            let name = item.get("name")?.text()?;
            if !self.instances.contains_key(name) {
                ids_by_name.insert(name.to_owned(), item.get("id")?);
            }
        }
        for item in items {
            let Some(stack) = item.get("name")?.text()?.strip_suffix("[0]") else {
                continue;
            };
            let mut ids: Vec<Json<'_>> = Vec::new();
            while let Some(id) = ids_by_name.remove(&format!("{stack}[{}]", ids.len())) {
                ids.push(id);
            }
            if ids.is_empty() {
                continue;
            }
            let next = program.words;
            program.words += 1;
            let number = self.place_elements(&ids, item, next, declared, type_numbers, program)?;
            self.stacks.insert(stack.to_owned(), number);
        }
        Ok(())
    }

    /// Places headers side by side; the number of the stack they make.
    fn place_elements(
        &mut self,
        ids: &[Json<'_>],
        item: &Json<'_>,
        next: u32,
        declared: &HashMap<u32, Json<'_>>,
        type_numbers: &HashMap<&str, u32>,
        program: &mut Program,
    ) -> Result<u32, LoadError> {
        let mut first = None;
        for id in ids {
            let Some(header) = declared.get(&id.number()?) else {
                return id.refuse("no header has this id");
            };
            let instance = self.place(header, type_numbers, program)?;
            let first = *first.get_or_insert(instance.span);
            if first.layout != instance.span.layout {
                return id.refuse("headers of one stack must have one type");
            }
        }
        let Some(first) = first else {
            return item.refuse("an empty header stack");
        };
        program.stacks.push(Stack {
            first,
            size: ids.len() as u32,
            next,
        });
        Ok(program.stacks.len() as u32 - 1)
    }

    /// Places the elements of a union stack: one stack per member, with one index.
    fn place_union_stacks(
        &mut self,
        root: &Json<'_>,
        declared: &HashMap<u32, Json<'_>>,
        type_numbers: &HashMap<&str, u32>,
        program: &mut Program,
    ) -> Result<(), LoadError> {
        let mut unions = HashMap::new();
        for item in root.list("header_unions")? {
            unions.insert(item.get("id")?.number()?, item);
        }
        for item in root.list("header_union_stacks")? {
            let mut columns: Vec<Vec<Json<'_>>> = Vec::new();
            let mut names = Vec::new();
            for id in item.get("header_union_ids")?.items()? {
                let Some(union) = unions.get(&id.number()?) else {
                    return id.refuse("no header union has this id");
                };
                let members = union.get("header_ids")?.items()?;
                if columns.is_empty() {
                    columns.resize(members.len(), Vec::new());
                    names = member_names(root, union)?;
                }
                if columns.len() != members.len() || names.len() != members.len() {
                    return id.refuse("unions of one stack must have one type");
                }
                for (column, member) in columns.iter_mut().zip(members) {
                    column.push(member);
                }
            }
            let next = program.words;
            program.words += 1;
            let mut stacks = Vec::new();
            for (column, name) in columns.iter().zip(names) {
                let stack =
                    self.place_elements(column, &item, next, declared, type_numbers, program)?;
                stacks.push((name, stack));
            }
            self.unions
                .add_stack(item.get("name")?.text()?.to_owned(), stacks);
        }
        Ok(())
    }

    fn load_unions(
        &mut self,
        root: &Json<'_>,
        declared: &HashMap<u32, Json<'_>>,
    ) -> Result<(), LoadError> {
        for item in root.list("header_unions")? {
            let mut members = Vec::new();
            for id in item.get("header_ids")?.items()? {
                let Some(header) = declared.get(&id.number()?) else {
                    return id.refuse("no header has this id");
                };
                members.push(self.instance(&header.get("name")?)?);
            }
            self.unions
                .add(item.get("name")?.text()?.to_owned(), members);
        }
        Ok(())
    }

    pub(crate) fn unions(&self) -> &Unions {
        &self.unions
    }

    fn place(
        &mut self,
        item: &Json<'_>,
        type_numbers: &HashMap<&str, u32>,
        program: &mut Program,
    ) -> Result<Instance, LoadError> {
        let type_name = item.get("header_type")?;
        let Some(&layout) = type_numbers.get(type_name.text()?) else {
            return type_name.refuse(format!("no header type is called {:?}", type_name.text()?));
        };
        let span = HeaderSpan {
            layout,
            word: program.words,
            byte: program.bytes,
        };
        program.words += program.layouts[layout as usize].words;
        program.bytes += program.layouts[layout as usize].bytes;
        if program.words > MOST_SLOTS || program.bytes > MOST_SLOTS {
            return item.refuse("the headers of this program are too large");
        }
        let metadata = item
            .find("metadata")
            .map_or(Ok(false), |flag| flag.boolean())?;
        let instance = Instance { span, metadata };
        let name = item.get("name")?.text()?;
        if self.instances.insert(name.to_owned(), instance).is_some() {
            return item.refuse(format!("two headers are called {name:?}"));
        }
        Ok(instance)
    }

    pub(crate) fn instance(&self, name: &Json<'_>) -> Result<Instance, LoadError> {
        match self.instances.get(name.text()?) {
            Some(instance) => Ok(*instance),
            None => name.refuse(format!("no header is called {:?}", name.text()?)),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<Instance> {
        self.instances.get(name).copied()
    }

    pub(crate) fn stack(&self, name: &Json<'_>) -> Result<u32, LoadError> {
        match self.stacks.get(name.text()?) {
            Some(stack) => Ok(*stack),
            None => name.refuse(format!("no header stack is called {:?}", name.text()?)),
        }
    }

    pub(crate) fn field(&self, pair: &Json<'_>) -> Result<Field, LoadError> {
        let [header, field] = pair.tuple()?;
        let instance = self.instance(&header)?;
        self.field_of(instance, &field)
    }

    /// Whether the header of this name is there, as a field of one bit.
    pub(crate) fn validity(&self, header: &Json<'_>) -> Result<Field, LoadError> {
        Ok(validity(self.instance(header)?))
    }

    /// The fields of a header, in order.
    pub(crate) fn fields(&self, instance: Instance) -> impl Iterator<Item = Field> {
        let fields = self.types[instance.span.layout as usize].fields.iter();
        fields.map(move |field| locate(instance, field))
    }

    /// How a header type tells the length of its varbit by its own fields, as P4_14's do.
    pub(crate) fn length_expression(&self, header: HeaderSpan) -> Option<Json<'_>> {
        let (value, path) = self.types[header.layout as usize].length.as_ref()?;
        let path = path.clone();
        Some(Json { value, path })
    }

    pub(crate) fn field_of(&self, instance: Instance, name: &Json<'_>) -> Result<Field, LoadError> {
        match self.find_field(instance, name.text()?) {
            Some(field) => Ok(field),
            None => name.refuse(format!("the header has no field called {:?}", name.text()?)),
        }
    }

    pub(crate) fn field_at(
        &self,
        instance: Instance,
        position: &Json<'_>,
    ) -> Result<Field, LoadError> {
        let header_type = &self.types[instance.span.layout as usize];
        match header_type.fields.get(position.number()? as usize) {
            Some(field) => Ok(locate(instance, field)),
            None => position.refuse("the header has fewer fields"),
        }
    }

    pub(crate) fn has_field(&self, instance: Instance, name: &str) -> bool {
        self.find_field(instance, name).is_some()
    }

    pub(super) fn find_field(&self, instance: Instance, name: &str) -> Option<Field> {
        if name == "$valid$" {
            return Some(validity(instance));
        }
        let header_type = &self.types[instance.span.layout as usize];
        header_type
            .by_name
            .get(name)
            .map(|&index| locate(instance, &header_type.fields[index]))
    }

    /// A field of at most 64 bits; `None` if there is no such field.
    pub(crate) fn store(&self, instance: Instance, name: &str) -> Option<WordField> {
        let found = self.find_field(instance, name)?;
        match found.slot {
            Slot::Word { word } => Some(WordField {
                word,
                fit: found.fit(),
            }),
            _ => None,
        }
    }

    fn standard_metadata(&self) -> StandardMetadata {
        let store = |header: &str, field: &str| -> Option<WordField> {
            let (header, field) = self
                .aliases
                .get(&format!("{header}.{field}"))
                .map_or((header, field), |(header, field)| {
                    (header.as_str(), field.as_str())
                });
            let instance = self
                .instances
                .get(header)
                .or_else(|| self.instances.get("standard_metadata"))?;
            self.store(*instance, field)
        };
        let standard = |field: &str| store("standard_metadata", field);
        StandardMetadata {
            ingress_port: standard("ingress_port"),
            egress_spec: standard("egress_spec"),
            egress_port: standard("egress_port"),
            packet_length: standard("packet_length"),
            enq_timestamp: store("queueing_metadata", "enq_timestamp"),
            enq_qdepth: store("queueing_metadata", "enq_qdepth"),
            deq_timedelta: store("queueing_metadata", "deq_timedelta"),
            deq_qdepth: store("queueing_metadata", "deq_qdepth"),
            ingress_global_timestamp: store("intrinsic_metadata", "ingress_global_timestamp"),
            egress_global_timestamp: store("intrinsic_metadata", "egress_global_timestamp"),
            mcast_grp: store("intrinsic_metadata", "mcast_grp"),
            checksum_error: standard("checksum_error"),
            parser_error: standard("parser_error"),
            priority: store("intrinsic_metadata", "priority"),
            instance_type: standard("instance_type"),
            egress_rid: store("intrinsic_metadata", "egress_rid"),
        }
    }

    /// The words p4c keeps its own fields and the program's metadata in.
    pub(crate) fn scalars(&self, program: &Program) -> std::ops::Range<u32> {
        let Some(instance) = self.instances.get("scalars").filter(|found| found.metadata) else {
            return 0..0;
        };
        let span = instance.span;
        span.word + 1..span.word + program.layouts[span.layout as usize].words
    }

    /// The word of the metadata `tm.<name>`, in `scalars` as p4c's `..._tm_<name><number>`.
    fn of_traffic_manager(&self, name: &str) -> Option<u32> {
        let instance = self.instances.get("scalars")?;
        let suffix = format!("_tm_{name}");
        let field = self.types[instance.span.layout as usize]
            .fields
            .iter()
            .find(|field| {
                let stem = field
                    .name
                    .trim_end_matches(|digit: char| digit.is_ascii_digit());
                stem.ends_with(&suffix) && stem.len() < field.name.len()
            })?;
        match locate(*instance, field).slot {
            Slot::Word { word } => Some(word),
            _ => None,
        }
    }
}

fn validity(instance: Instance) -> Field {
    let slot = Slot::Word {
        word: instance.span.word,
    };
    Field {
        slot,
        bits: 1,
        signed: false,
        valid: None,
        saturating: false,
    }
}

fn member_names(root: &Json<'_>, union: &Json<'_>) -> Result<Vec<String>, LoadError> {
    let wanted = union.get("union_type")?;
    for item in root.list("header_union_types")? {
        if item.get("name")?.text()? == wanted.text()? {
            let members = item.get("headers")?.items()?;
            let name = |member: &Json<'_>| -> Result<String, LoadError> {
                let [name, _] = member.tuple()?;
                Ok(name.text()?.to_owned())
            };
            return members.iter().map(name).collect();
        }
    }
    wanted.refuse("no header union type has this name")
}
