//! Server reflection: messages and services of P4Runtime, gNMI, traces and telemetry, for clients without `.proto` files, as grpcurl.
//!
//! `protocols.txt` names those of P4Runtime and gNMI, one line each; a test holds it to the descriptors that clients have.
//! Those of traces and telemetry come from their own files.

mod proto;

use std::collections::BTreeMap;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, FileDescriptorSet, MessageOptions, MethodDescriptorProto,
    OneofDescriptorProto, ServiceDescriptorProto,
};

const PROTOCOLS: &str = include_str!("protocols.txt");

const TRACES: &str = "phb/trace/v1/trace.proto";

const TELEMETRY: &str = "phb/telemetry/v1/telemetry.proto";

/// The kind of object that the present lines describe.
enum Open {
    Message,
    Enum,
    Service,
    File,
}

/// One file while it is read: messages and enumerations by their names with all that they lie in.
#[derive(Default)]
struct File {
    descriptor: FileDescriptorProto,
    messages: Vec<(String, DescriptorProto)>,
    enums: Vec<(String, EnumDescriptorProto)>,
}

impl File {
    fn finished(self) -> FileDescriptorProto {
        let Self {
            mut descriptor,
            messages,
            enums,
        } = self;
        let package = descriptor.package().to_owned();
        let mut by_name: BTreeMap<String, DescriptorProto> = BTreeMap::new();
        let mut order: Vec<String> = Vec::new();
        for (name, message) in messages {
            order.push(name.clone());
            by_name.insert(name, message);
        }
        for (name, each) in enums {
            match by_name.get_mut(parent(&name)) {
                Some(message) => message.enum_type.push(each),
                None => descriptor.enum_type.push(each),
            }
        }
        // Nested ones come behind their parents: from the end, each is whole when moved.
        let mut top = Vec::new();
        for name in order.iter().rev() {
            let Some(message) = by_name.remove(name) else {
                continue;
            };
            if parent(name) == package {
                top.push(message);
            } else if let Some(outer) = by_name.get_mut(parent(name)) {
                outer.nested_type.insert(0, message);
            }
        }
        descriptor.message_type = top.into_iter().rev().collect();
        descriptor
    }
}

fn parent(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(parent, _)| parent)
}

fn last(name: &str) -> Option<String> {
    name.rsplit('.').next().map(str::to_owned)
}

pub fn descriptors() -> FileDescriptorSet {
    let mut files = Vec::new();
    let mut file = File::default();
    let mut open = Open::File;
    let traces = proto::lines(TRACES, phb_trace::PROTO);
    let telemetry = proto::lines(TELEMETRY, crate::telemetry::PROTO);
    let own = traces.lines().chain(telemetry.lines());
    for line in PROTOCOLS.lines().chain(own) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (line.starts_with(' '), words.as_slice()) {
            (false, ["file", name, package]) => {
                files.push(std::mem::take(&mut file));
                file.descriptor.name = Some((*name).to_owned());
                file.descriptor.package = Some((*package).to_owned());
                file.descriptor.syntax = Some("proto3".to_owned());
                open = Open::File;
            }
            (false, ["message", name, rest @ ..]) => {
                let options = (!rest.is_empty()).then(|| MessageOptions {
                    map_entry: Some(true),
                    ..MessageOptions::default()
                });
                let message = DescriptorProto {
                    name: last(name),
                    options,
                    ..DescriptorProto::default()
                };
                file.messages.push(((*name).to_owned(), message));
                open = Open::Message;
            }
            (false, ["enum", name]) => {
                let each = EnumDescriptorProto {
                    name: last(name),
                    ..EnumDescriptorProto::default()
                };
                file.enums.push(((*name).to_owned(), each));
                open = Open::Enum;
            }
            (false, ["service", name]) => {
                file.descriptor.service.push(ServiceDescriptorProto {
                    name: last(name),
                    ..ServiceDescriptorProto::default()
                });
                open = Open::Service;
            }
            (true, words) => member(&mut file, &open, words),
            _ => {}
        }
    }
    files.push(file);
    FileDescriptorSet {
        file: files.into_iter().skip(1).map(File::finished).collect(),
    }
}

fn member(file: &mut File, open: &Open, words: &[&str]) {
    match (open, words) {
        (Open::File, ["import", name]) => file.descriptor.dependency.push((*name).to_owned()),
        (Open::Message, words) => {
            if let Some((_, message)) = file.messages.last_mut() {
                add_field(message, words);
            }
        }
        (Open::Enum, [number, name]) => {
            if let Some((_, each)) = file.enums.last_mut() {
                each.value.push(EnumValueDescriptorProto {
                    name: Some((*name).to_owned()),
                    number: number.parse().ok(),
                    options: None,
                });
            }
        }
        (Open::Service, [name, rest @ ..]) => {
            let mut sides = rest.split(|word| *word == "->");
            let (request, response) = (sides.next(), sides.next());
            let kind = |side: Option<&[&str]>| {
                let words = side.unwrap_or_default();
                let name = words.last().map(|name| format!(".{name}"));
                (name, Some(words.first() == Some(&"stream")))
            };
            let ((input_type, client_streaming), (output_type, server_streaming)) =
                (kind(request), kind(response));
            if let Some(service) = file.descriptor.service.last_mut() {
                service.method.push(MethodDescriptorProto {
                    name: Some((*name).to_owned()),
                    input_type,
                    output_type,
                    options: None,
                    client_streaming,
                    server_streaming,
                });
            }
        }
        _ => {}
    }
}

/// Adds a field: number, "repeated", "message" or "enum", type, name, "in" a oneof.
fn add_field(message: &mut DescriptorProto, words: &[&str]) {
    let [number, words @ ..] = words else {
        return;
    };
    let (label, words) = match words {
        ["repeated", rest @ ..] => (Label::Repeated, rest),
        _ => (Label::Optional, words),
    };
    let (kind, words) = match words {
        ["message", rest @ ..] => (Some(Type::Message), rest),
        ["enum", rest @ ..] => (Some(Type::Enum), rest),
        _ => (None, words),
    };
    let [type_name, name, within @ ..] = words else {
        return;
    };
    let mut field = FieldDescriptorProto {
        name: Some((*name).to_owned()),
        number: number.parse().ok(),
        label: Some(label.into()),
        ..FieldDescriptorProto::default()
    };
    let of_scalar = Type::from_str_name(&format!("TYPE_{}", type_name.to_uppercase()));
    field.r#type = kind.or(of_scalar).map(Into::into);
    field.type_name = kind.map(|_| format!(".{type_name}"));
    if let ["in", oneof] = within {
        let mut known = message.oneof_decl.iter();
        let place = known.position(|each| each.name() == *oneof);
        let place = place.unwrap_or_else(|| {
            message.oneof_decl.push(OneofDescriptorProto {
                name: Some((*oneof).to_owned()),
                options: None,
            });
            message.oneof_decl.len() - 1
        });
        field.oneof_index = i32::try_from(place).ok();
        field.proto3_optional = oneof.starts_with('_').then_some(true);
    }
    message.field.push(field);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_lie_where_they_are_named() {
        let set = descriptors();
        let names: Vec<&str> = set.file.iter().map(FileDescriptorProto::name).collect();
        assert!(names.contains(&"p4/v1/p4runtime.proto"), "{names:?}");
        let p4runtime = set
            .file
            .iter()
            .find(|file| file.package() == "p4.v1" && !file.service.is_empty());
        let p4runtime = p4runtime.expect("P4Runtime is a service");
        let methods: Vec<&str> = p4runtime.service[0]
            .method
            .iter()
            .map(MethodDescriptorProto::name)
            .collect();
        assert!(methods.contains(&"StreamChannel"));
        let config = p4runtime
            .message_type
            .iter()
            .find(|each| each.name() == "ForwardingPipelineConfig");
        assert_eq!(config.expect("it is there").nested_type[0].name(), "Cookie");
        for file in &set.file {
            for message in &file.message_type {
                assert!(
                    message
                        .field
                        .iter()
                        .all(|field| field.r#type.is_some() && field.number.is_some())
                );
            }
        }
    }

    #[test]
    fn every_field_and_method_of_traces_is_there() {
        let set = descriptors();
        let file = set.file.iter().find(|file| file.name() == TRACES);
        let file = file.expect("it is there");
        let fields = phb_trace::PROTO
            .lines()
            .filter(|line| line.contains(" = ") && line.starts_with(' '));
        let found: usize = file.message_type.iter().map(|each| each.field.len()).sum();
        assert_eq!(fields.count(), found);
        assert_eq!(file.service[0].method[0].name(), "Watch");
        assert!(file.service[0].method[0].server_streaming());
    }

    #[test]
    fn the_reflection_service_takes_them() {
        let builder = tonic_reflection::server::Builder::configure();
        assert!(
            builder
                .register_file_descriptor_set(descriptors())
                .build_v1()
                .is_ok()
        );
    }
}
