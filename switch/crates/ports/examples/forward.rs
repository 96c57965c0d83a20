//! A forwarder that does no work: frames of either interface leave by the other. What a switch can't be faster than.
//!
//! `forward INTERFACE INTERFACE [SPIN_MICROSECONDS]`

use std::time::{Duration, Instant};

use phb_ports::{PacketPort, Port, Waiter};

const BATCH: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [first, second, rest @ ..] = arguments.as_slice() else {
        return Err("usage: forward INTERFACE INTERFACE [SPIN_MICROSECONDS]".into());
    };
    let spin = match rest {
        [microseconds, ..] => Duration::from_micros(microseconds.parse()?),
        [] => Duration::from_micros(50),
    };
    let mut ports = [PacketPort::open(first)?, PacketPort::open(second)?];
    println!("ready");
    let mut waiter = Waiter::new();
    let mut last = Instant::now();
    loop {
        let mut moved = false;
        for from in 0..2 {
            let [left, right] = &mut ports;
            let (receiver, sender) = if from == 0 {
                (left, right)
            } else {
                (right, left)
            };
            receiver.receive(0, BATCH, &mut |frame| {
                sender.send(0, frame);
                moved = true;
            });
            sender.flush();
        }
        if moved {
            last = Instant::now();
        } else if last.elapsed() > spin {
            let descriptors = ports.iter().map(Port::descriptor);
            waiter.wait(descriptors, None)?;
        }
    }
}
