//! Bytes as they come from outside: frames with a virtio header, capture files. No panic, and no frame longer than what
//! it was cut from.
#![no_main]

use libfuzzer_sys::fuzz_target;
use phb_ports::Counters;
use phb_ports::offload::{self, VIRTIO_HEADER};
use phb_ports::pcap::PcapReader;

const TAG: [u8; 4] = [0x81, 0, 0, 5];

fuzz_target!(|data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else {
        return;
    };
    if kind % 4 == 3 {
        return captures(bytes);
    }
    let tag = (kind % 2 == 1).then_some(TAG);
    let longest = bytes.len().saturating_sub(VIRTIO_HEADER) + TAG.len();
    let (mut received, mut scratch) = (bytes.to_vec(), Vec::new());
    let counters = Counters::default();
    offload::finish(&mut received, tag, &mut scratch, &counters, &mut |frame| {
        assert!(frame.len() <= longest);
    });
});

fn captures(bytes: &[u8]) {
    let Ok(mut reader) = PcapReader::new(bytes, "fuzz".to_owned()) else {
        return;
    };
    while let Ok(Some(_)) = reader.advance() {
        assert!(reader.frame().len() <= bytes.len());
    }
}
