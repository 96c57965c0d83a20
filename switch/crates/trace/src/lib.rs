//! What traces of packets look like: protobuf messages (`trace.proto`), lines of JSON, and which packets are wanted.
