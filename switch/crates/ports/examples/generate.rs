//! Sends frames by one interface and counts those that come back by another.
//!
//! `generate SEND RECEIVE FRAMES PER_SECOND SECONDS`: FRAMES is a file of hexadecimal frames, one a
//! line, sent in turn; PER_SECOND 0 is as fast as possible. The last 16 bytes of each become a mark
//! and the time of sending. Prints one JSON object: counts, rates, and round-trip times.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use phb_ports::{PacketPort, Port};

const BATCH: usize = 32;
const MARK: [u8; 8] = *b"phbbench";
/// Longest wait for frames after the last was sent.
const SETTLE: Duration = Duration::from_millis(200);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [send, receive, frames, rate, seconds] = arguments.as_slice() else {
        return Err("usage: generate SEND RECEIVE FRAMES PER_SECOND SECONDS".into());
    };
    let mut frames: Vec<Vec<u8>> = std::fs::read_to_string(frames)?
        .lines()
        .map(from_hexadecimal)
        .collect::<Result<_, _>>()?;
    let rate: f64 = rate.parse()?;
    let duration = Duration::from_secs_f64(seconds.parse()?);
    let mut sender = PacketPort::open(send)?;
    let mut receiver = PacketPort::open(receive)?;
    let mut delays: Vec<u32> = Vec::with_capacity(1 << 24);
    let start = Instant::now();
    let (mut sent, mut received) = (0u64, 0u64);
    let mut next = 0;
    let mut last_received = start;
    let mut first_received = 0;
    let mut sending_ended = None;
    loop {
        let elapsed = start.elapsed();
        if elapsed < duration {
            let due = if rate == 0.0 {
                u64::MAX
            } else {
                (elapsed.as_secs_f64() * rate) as u64
            };
            for _ in 0..due.saturating_sub(sent).min(BATCH as u64) {
                let frame = &mut frames[next];
                let tail = frame.len() - 16;
                frame[tail..tail + 8].copy_from_slice(&MARK);
                frame[tail + 8..]
                    .copy_from_slice(&(start.elapsed().as_nanos() as u64).to_be_bytes());
                sender.send(0, frame);
                next = (next + 1) % frames.len();
                sent += 1;
            }
            sender.flush();
        } else {
            let ended = *sending_ended.get_or_insert_with(Instant::now);
            if ended.max(last_received).elapsed() > SETTLE {
                break;
            }
        }
        let mut any = false;
        let now = start.elapsed().as_nanos() as u64;
        receiver.receive(0, 4 * BATCH, &mut |frame| {
            let Some((rest, time)) = frame.split_last_chunk::<8>() else {
                return;
            };
            if !rest.ends_with(&MARK) {
                return;
            }
            any = true;
            received += 1;
            if delays.len() < delays.capacity() {
                let delay = now.saturating_sub(u64::from_be_bytes(*time));
                delays.push(delay.min(u64::from(u32::MAX)) as u32);
            }
        });
        if any {
            last_received = Instant::now();
            if first_received == 0 {
                first_received = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
            }
        }
    }
    let active = last_received
        .duration_since(start)
        .max(duration)
        .as_secs_f64();
    delays.sort_unstable();
    let quantile = |q: f64| {
        delays
            .get((delays.len() as f64 * q) as usize)
            .copied()
            .unwrap_or(0)
    };
    let (sending, receiving) = (sender.counters().read(), receiver.counters().read());
    println!(
        "{{\"sent\": {sent}, \"send_errors\": {}, \"received\": {received}, \"missed\": {}, \"seconds\": {active:.6}, \
         \"sent_per_second\": {:.0}, \"received_per_second\": {:.0}, \"first_received_ns\": {first_received}, \"p50_ns\": {}, \"p99_ns\": {}, \"p999_ns\": {}}}",
        sending.send_errors,
        receiving.missed,
        sent as f64 / duration.as_secs_f64(),
        received as f64 / active,
        quantile(0.5),
        quantile(0.99),
        quantile(0.999),
    );
    Ok(())
}

fn from_hexadecimal(line: &str) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    if line.len() < 64 || !line.len().is_multiple_of(2) || !line.is_ascii() {
        return Err(format!("no frame of at least 32 bytes: {line:?}").into());
    }
    (0..line.len())
        .step_by(2)
        .map(|at| Ok(u8::from_str_radix(&line[at..at + 2], 16)?))
        .collect()
}
