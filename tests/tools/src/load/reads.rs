//! Measures reads of two hundred clients while two jobs run.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

use super::figures::Times;
use super::loaded::{AUTHORIZED, Loaded};
use super::proxy;
use crate::bench::Table;
use testkit::http::Form;
use testkit::server::root;

const CLIENTS: u32 = 200;

const DURING: Duration = Duration::from_secs(20);

/// Interval between the requests of a client with a fixed pace.
const EVERY: Duration = Duration::from_millis(200);

/// Model whose recording takes some seconds, and enough jobs that two run at any time.
const CONFIG: &str = "steps = 4000\nbatch = 1\nsequence = 64\n[model]\npreset = \"gpt2\"\nlayers = 2";
const JOBS: usize = 60;

/// Time of a client's next request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// At fixed times, so that the delay of a request after a slow answer counts as well.
    Fixed,
    /// As soon as the previous answer has arrived.
    AtOnce,
}

pub(super) fn print() {
    let loaded = Loaded::start(2);
    let jobs: Vec<String> = (0..JOBS).map(|_| loaded.submit(CONFIG)).collect();
    loaded.wait_until_running(&jobs[1]);
    let link = share(&loaded);
    let kinds = [
        ("link, GET /api/v1/shares/{token}", link.clone()),
        ("its snapshot of 81 kB, GET …/snapshot", format!("{link}/snapshot")),
        ("job, GET /api/v1/jobs/{id}", jobs[0].clone()),
    ];
    for (pace, title) in [
        (Pace::Fixed, format!("{CLIENTS} clients, each asks every {} ms, while two jobs run", EVERY.as_millis())),
        (Pace::AtOnce, format!("{CLIENTS} clients, each asks again at once, while two jobs run")),
    ] {
        let mut table = Table::new(&title, &["request", "a second", "p50", "p95", "p99", "longest", "errors"]);
        let paths = kinds.clone().map(|(_, path)| path);
        for ((name, _), times) in kinds.iter().zip(measure(loaded.proxy.address, &paths, pace)) {
            table.row(&[vec![(*name).to_owned()], times.cells(DURING)].concat());
        }
        table.print();
    }
    assert_eq!(loaded.job(&jobs[JOBS - 1])["state"], "queued", "two jobs have to run all the time");
    for path in jobs.iter().rev() {
        loaded.post(0, &format!("{path}/cancel"), &[], b"");
    }
}

fn share(loaded: &Loaded) -> String {
    let file = root().join("tests/data/snapshots/torch2.15-gpt2-3steps-py311.pickle.gz");
    let form = Form::share(&std::fs::read(file).expect("a snapshot")).finish();
    let reply = loaded.post(1, "/api/v1/shares", &[("Content-Type", &Form::content_type())], &form);
    format!("/api/v1/shares/{}", reply.json()["token"].as_str().expect("a token"))
}

/// Returns the times of each path. Every client requests the paths in turn; one thread is enough for all clients.
fn measure<const N: usize>(server: SocketAddr, paths: &[String; N], pace: Pace) -> [Times; N] {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        // All clients are connected before the first request.
        let start = Instant::now() + Duration::from_secs(2);
        let clients = (0..CLIENTS).map(|number| {
            let paths = paths.clone();
            // Clients are spread over the interval between two requests of one client.
            tokio::spawn(client(server, paths, number, start + EVERY * number / CLIENTS, pace))
        });
        let mut all = [(); N].map(|()| Times::default());
        for client in clients.collect::<Vec<_>>() {
            let times = client.await.expect("a client");
            all.iter_mut().zip(times).for_each(|(all, times)| all.add(times));
        }
        all
    })
}

async fn client<const N: usize>(
    server: SocketAddr,
    paths: [String; N],
    number: u32,
    start: Instant,
    pace: Pace,
) -> [Times; N] {
    let mut client = Client::connect(number, server).await.expect("the server to listen");
    let mut times = [(); N].map(|()| Times::default());
    let mut due = start;
    for turn in number as usize.. {
        sleep_until(due).await;
        if due >= start + DURING {
            break;
        }
        let answer = client.get(&paths[turn % N]).await;
        times[turn % N].note(due.elapsed(), matches!(answer, Ok(200)));
        if answer.is_err() {
            client = Client::connect(number, server).await.expect("the server to listen");
        }
        due = if pace == Pace::Fixed { due + EVERY } else { Instant::now() };
    }
    times
}

struct Client {
    stream: TcpStream,
    host: SocketAddr,
    received: Vec<u8>,
}

impl Client {
    async fn connect(number: u32, host: SocketAddr) -> Result<Self> {
        let stream = proxy::connect(number, host).await?;
        // As browsers do; otherwise small requests would wait for earlier ones to be acknowledged.
        stream.set_nodelay(true)?;
        Ok(Self { stream, host, received: Vec::new() })
    }

    /// Requests a path, reads the whole answer and returns its status.
    async fn get(&mut self, path: &str) -> Result<u16> {
        let (name, value) = AUTHORIZED;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{name}: {value}\r\n\r\n", self.host);
        self.stream.write_all(request.as_bytes()).await?;
        self.received.clear();
        let head_bytes = loop {
            match self.received.windows(4).position(|window| window == b"\r\n\r\n") {
                Some(position) => break position + 4,
                None => self.receive().await?,
            }
        };
        let (status, body_bytes) = parse(&self.received[..head_bytes])?;
        while self.received.len() < head_bytes + body_bytes {
            self.receive().await?;
        }
        Ok(status)
    }

    async fn receive(&mut self) -> Result<()> {
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Returns the status and the length of the body.
fn parse(head: &[u8]) -> Result<(u16, usize)> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    status.zip(length).ok_or_else(|| Error::new(ErrorKind::InvalidData, head))
}
