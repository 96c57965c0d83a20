//! A native P4Runtime client for measurements: it sends serialized requests, and counts the answers.
//!
//! - `client ADDRESS call SERVICE/METHOD FILE`: each message of FILE (length-delimited) is one call, one after the other.
//! - `client ADDRESS listen FILE SECONDS`: opens a StreamChannel, sends the messages of FILE, and counts answers by kind.
//! - `client ADDRESS send FILE COUNT`: the same, and then sends the last message of FILE until it was sent COUNT times.
//! - `client ADDRESS silent CONNECTIONS STREAMS`: opens connections and streams that say nothing, and holds them until its
//!   standard input ends.
//!
//! Prints one JSON object.

use std::time::{Duration, Instant};

use bytes::{Buf, Bytes};
use tokio_stream::StreamExt;
use tonic::Request;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};

#[path = "../src/codec.rs"]
mod codec;

use codec::Raw;

type Failed = Box<dyn std::error::Error + Send + Sync>;

fn messages(path: &str) -> Result<Vec<Bytes>, Failed> {
    let mut file = Bytes::from(std::fs::read(path)?);
    let mut messages = Vec::new();
    while file.has_remaining() {
        let length = prost::decode_length_delimiter(&mut file)?;
        messages.push(file.split_to(length));
    }
    Ok(messages)
}

async fn channel(address: &str) -> Result<Channel, Failed> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))?;
    Ok(endpoint
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(16 << 20)
        .tcp_nodelay(true)
        .connect()
        .await?)
}

fn grpc(channel: Channel) -> Grpc<Channel> {
    Grpc::new(channel).max_decoding_message_size(usize::MAX)
}

async fn call(address: &str, method: &str, path: &str) -> Result<(), Failed> {
    let requests = messages(path)?;
    let mut grpc = grpc(channel(address).await?);
    let path: http::uri::PathAndQuery = format!("/{method}").parse()?;
    let (mut bytes, count) = (0, requests.len());
    let mut longest = Duration::ZERO;
    let start = Instant::now();
    for request in requests {
        let began = Instant::now();
        grpc.ready().await?;
        let answer = grpc
            .server_streaming(Request::new(request), path.clone(), Raw)
            .await?;
        let mut answer = answer.into_inner();
        while let Some(message) = answer.message().await? {
            bytes += message.len();
        }
        longest = longest.max(began.elapsed());
    }
    println!(
        "{{\"seconds\": {}, \"calls\": {count}, \"bytes\": {bytes}, \"longest_s\": {}}}",
        start.elapsed().as_secs_f64(),
        longest.as_secs_f64()
    );
    Ok(())
}

/// Opens a stream and sends messages, then those that are put into the sender.
async fn stream(
    channel: Channel,
    first: &[Bytes],
) -> Result<(tokio::sync::mpsc::Sender<Bytes>, tonic::Streaming<Bytes>), Failed> {
    let mut grpc = grpc(channel);
    grpc.ready().await?;
    let (sender, requests) = tokio::sync::mpsc::channel(1024);
    // Before the stream is awaited: gRPC's C++ answers nothing, not even headers, until it has been asked something.
    for message in first {
        sender.send(message.clone()).await?;
    }
    let path = http::uri::PathAndQuery::from_static("/p4.v1.P4Runtime/StreamChannel");
    let requests = tokio_stream::wrappers::ReceiverStream::new(requests);
    let opened = grpc.streaming(Request::new(requests), path, Raw).await?;
    Ok((sender, opened.into_inner()))
}

async fn listen(address: &str, path: &str, seconds: f64) -> Result<(), Failed> {
    let (_sender, mut answers) = stream(channel(address).await?, &messages(path)?).await?;
    let mut by_kind = [0_u64; 8];
    let start = Instant::now();
    let (mut first, mut last) = (None, start);
    let until = tokio::time::sleep(Duration::from_secs_f64(seconds));
    let mut until = std::pin::pin!(until);
    loop {
        let next = tokio::select! {
            next = answers.next() => next,
            () = until.as_mut() => break,
        };
        let Some(message) = next.transpose()? else {
            break;
        };
        // The number of the field that is set: arbitration 1, packet 2, digest 3, error 6.
        by_kind[usize::from(message.first().map_or(0, |key| key >> 3)) & 7] += 1;
        if by_kind[1] == 1 && first.is_none() {
            eprintln!("ready");
            first = Some(Instant::now());
        }
        last = Instant::now();
    }
    println!(
        "{{\"packets\": {}, \"digests\": {}, \"errors\": {}, \"seconds\": {}}}",
        by_kind[2],
        by_kind[3],
        by_kind[6],
        (last - first.unwrap_or(start)).as_secs_f64()
    );
    Ok(())
}

async fn send(address: &str, path: &str, count: usize) -> Result<(), Failed> {
    let all = messages(path)?;
    let (sender, mut answers) = stream(channel(address).await?, &all).await?;
    // By then the client is primary.
    answers.message().await?;
    let last = all.last().ok_or("the file has no message")?;
    let start = Instant::now();
    for _ in 1..count {
        sender.send(last.clone()).await?;
    }
    println!(
        "{{\"sent\": {count}, \"seconds\": {}}}",
        start.elapsed().as_secs_f64()
    );
    // For messages that are still on their way.
    tokio::time::sleep(Duration::from_secs(1)).await;
    Ok(())
}

async fn silent(address: &str, connections: usize, streams: usize) -> Result<(), Failed> {
    let mut held = Vec::new();
    for _ in 0..connections {
        held.push(tokio::net::TcpStream::connect(address).await?);
    }
    let channel = channel(address).await?;
    let mut opened = Vec::new();
    for _ in 0..streams {
        let mut grpc = grpc(channel.clone());
        grpc.ready().await?;
        let (sender, requests) = tokio::sync::mpsc::channel::<Bytes>(1);
        let path = http::uri::PathAndQuery::from_static("/p4.v1.P4Runtime/StreamChannel");
        let requests = tokio_stream::wrappers::ReceiverStream::new(requests);
        opened.push((
            sender,
            tokio::spawn(async move {
                let opened = grpc.streaming(Request::new(requests), path, Raw).await;
                std::future::pending::<()>().await;
                drop(opened);
            }),
        ));
    }
    println!("{{\"connections\": {connections}, \"streams\": {streams}}}");
    let mut line = String::new();
    tokio::task::spawn_blocking(move || std::io::stdin().read_line(&mut line)).await??;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [address, "call", method, path] => call(address, method, path).await,
        [address, "listen", path, seconds] => listen(address, path, seconds.parse()?).await,
        [address, "send", path, count] => send(address, path, count.parse()?).await,
        [address, "silent", connections, streams] => {
            silent(address, connections.parse()?, streams.parse()?).await
        }
        _ => Err("usage: client ADDRESS call SERVICE/METHOD FILE | listen FILE SECONDS | send FILE COUNT | silent N M".into()),
    }
}
