//! Measures a hundred concurrent uploads of 5 MB.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use flate2::Compression;
use shared::base::format::bytes;
use shared::pickle::Style;

use super::figures::{Times, milliseconds};
use super::loaded::{Loaded, post};
use crate::bench::{Table, snapshot};
use testkit::http::Form;
use testkit::padded::gzip;
use testkit::process::{descendants_with, peak_memory_bytes};

const UPLOADS: u32 = 100;

/// Number of events of a snapshot that compresses to 5 MB.
const EVENTS: usize = 630_000;

pub(super) fn print() {
    let loaded = Loaded::start(0);
    let snapshot = compressed();
    let before_bytes = peak_memory_bytes(loaded.server.pid()).expect("Linux");
    let (times, during, reader_bytes) = upload(&loaded, &snapshot);
    let peak_bytes = peak_memory_bytes(loaded.server.pid()).expect("Linux");
    let title = format!("{UPLOADS} uploads of {} at once", bytes(snapshot.len() as u64));
    let headings = ["p50", "longest", "errors", "all", "server before", "server's peak", "reader's peak"];
    let mut table = Table::new(&title, &headings);
    let cells = times.cells(during);
    table.row(&[
        cells[1].clone(),
        cells[4].clone(),
        cells[5].clone(),
        milliseconds(during),
        bytes(before_bytes),
        bytes(peak_bytes),
        bytes(reader_bytes),
    ]);
    table.print();
}

/// Returns a realistic snapshot, compressed as the page does.
fn compressed() -> Vec<u8> {
    let plain = std::fs::read(snapshot(EVENTS, Style::Python)).expect("the snapshot");
    gzip(&plain, Compression::default())
}

/// Runs the uploads; returns their times, the total time and the peak memory of the processes that read uploads.
fn upload(loaded: &Loaded, snapshot: &[u8]) -> (Times, Duration, u64) {
    let (times, reader_bytes, is_over) = (Mutex::new(Times::default()), AtomicU64::new(0), AtomicBool::new(false));
    let (address, server) = (loaded.proxy.address, loaded.server.pid());
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| watch_readers(server, &reader_bytes, &is_over));
        let uploads = (0..UPLOADS).map(|number| {
            scope.spawn({
                let times = &times;
                move || one(address, snapshot, number, times)
            })
        });
        for upload in uploads.collect::<Vec<_>>() {
            upload.join().expect("an upload");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    (times.into_inner().expect("no panic"), start.elapsed(), reader_bytes.into_inner())
}

fn one(address: SocketAddr, snapshot: &[u8], number: u32, times: &Mutex<Times>) {
    let mut snapshot = snapshot.to_vec();
    // The time in the gzip header makes each upload distinct, as uploads of different users are.
    snapshot[4..8].copy_from_slice(&number.to_le_bytes());
    let body = Form::share(&snapshot).finish();
    let start = Instant::now();
    let reply = post(address, number, "/api/v1/shares", &[("Content-Type", &Form::content_type())], &body);
    times.lock().expect("no panic").note(start.elapsed(), reply.status == 201);
}

/// Tracks the peak memory of the processes that read uploads.
fn watch_readers(server: u32, most_bytes: &AtomicU64, is_over: &AtomicBool) {
    const EVERY: Duration = Duration::from_millis(20);
    while !is_over.load(Ordering::Relaxed) {
        let readers = descendants_with(server, "digest");
        let peak = readers.into_iter().filter_map(peak_memory_bytes).max();
        most_bytes.fetch_max(peak.unwrap_or(0), Ordering::Relaxed);
        std::thread::sleep(EVERY);
    }
}
