//! Measures decoding against its lower bound, a bare walk over the opcodes.
//!
//! The snapshot is a real one of 27,358 events; `./dev bench` measures large ones.

#[path = "support/opcode_scan.rs"]
mod opcode_scan;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flate2::read::GzDecoder;
use opcode_scan::opcode_scan;
use shared::import::{Importer, import};
use std::hint::black_box;
use std::io::Read;

const SNAPSHOT: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/snapshots/torch2.5-train-late-start-27k.pickle.gz");

fn decode(c: &mut Criterion) {
    let packed = std::fs::read(SNAPSHOT).expect("the snapshot is in the repository");
    let mut bytes = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("the snapshot unpacks");
    let mut group = c.benchmark_group("decode");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("opcode scan", |b| b.iter(|| opcode_scan(black_box(&bytes)).expect("a pickle")));
    group.bench_function("import", |b| b.iter(|| import(black_box(&bytes)).expect("a snapshot")));
    group.bench_function("import in chunks of 64 KiB", |b| {
        b.iter(|| {
            let mut importer = Importer::new();
            bytes.chunks(1 << 16).for_each(|chunk| importer.push(chunk).expect("a snapshot"));
            importer.finish().expect("a snapshot")
        })
    });
    group.bench_function("import gzip", |b| b.iter(|| import(black_box(&packed)).expect("a snapshot")));
    group.finish();
}

criterion_group!(benches, decode);
criterion_main!(benches);
