//! Decodes files and prints their size, time and events.
use std::io::Read;
fn main() {
    for path in std::env::args().skip(1) {
        let start = std::time::Instant::now();
        let mut file = std::fs::File::open(&path).unwrap();
        let mut importer = shared::import::Importer::new();
        let mut buffer = vec![0; 1 << 20];
        let result = loop {
            let n = file.read(&mut buffer).unwrap();
            if n == 0 {
                break importer.finish();
            }
            if let Err(e) = importer.push(&buffer[..n]) {
                break Err(e);
            }
        };
        match result {
            Ok(t) => {
                let ev: usize = t.devices.iter().map(|d| d.events.len()).sum();
                println!(
                    "{path}: {:?} {ev} events, {} blocks, {} frames, {} stacks, {} contexts, {} annotations, host {}, {} settings {:?}",
                    start.elapsed(),
                    t.devices.iter().map(|d| d.segments.blocks.len()).sum::<usize>(),
                    t.frames.len(),
                    t.stacks.len() - 2,
                    t.contexts.len(),
                    t.annotations.len(),
                    t.host.is_some(),
                    t.settings.entries.len(),
                    t.diagnostics
                );
            }
            Err(e) => println!("{path}: ERROR {e} | {}", e.hint),
        }
    }
}
