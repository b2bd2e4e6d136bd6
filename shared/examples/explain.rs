//! Scratch.
use shared::analysis::*;
use shared::import::Importer;
use shared::trace::*;
fn bare(trace: &Trace) -> Trace {
    let mut out = trace.clone();
    out.annotations.clear();
    for device in &mut out.devices {
        let mut events = EventTable::default();
        for mut event in device.events.iter() { event.stack = StackId::NONE; events.push(event); }
        device.events = events;
        for b in &mut device.segments.blocks { b.stack = StackId::NONE; }
    }
    out
}
fn of(trace: &Trace, device: &Device) -> (Timeline, Vec<Category>, Option<Steps>, Phases) {
    let t = Timeline::new(trace, device);
    let steps = Steps::find(trace, device, &t.allocations);
    let phases = Phases::find(trace, device, &t.allocations, steps.as_ref());
    let c = categories(device, &t.allocations, &phases, steps.as_ref());
    (t, c, steps, phases)
}
fn main() {
    let verbose = std::env::var("V").is_ok();
    for path in std::env::args().skip(1) {
        let mut importer = Importer::new();
        importer.push(&std::fs::read(&path).unwrap()).unwrap();
        let trace = importer.finish().unwrap();
        let bare = bare(&trace);
        for (device, other) in trace.devices.iter().zip(&bare.devices) {
            if device.events.len() < 100 { continue }
            let (t, truth, steps, ph) = of(&trace, device);
            let (_, guess, steps2, ph2) = of(&bare, other);
            let (peak, bytes) = t.live_peak();
            let mut table = std::collections::BTreeMap::new();
            let mut right = 0;
            for (id, size) in t.allocations.alive_at(peak) {
                *table.entry((truth[id.index()], guess[id.index()])).or_insert(0u64) += size;
                if truth[id.index()] == guess[id.index()] { right += size; }
            }
            println!("{:5.1} {} dev {} peak {} at {} steps {:?}/{:?}", right as f64 * 100.0 / bytes as f64, path.rsplit('/').next().unwrap(), device.index, bytes >> 20, peak, steps.as_ref().map(|s| s.steps.len()), steps2.as_ref().map(|s| s.steps.len()));
            if verbose {
                for ((a, b), bytes) in &table { println!("      {a:?} as {b:?}: {}", bytes >> 20); }
                println!("   {:?}\n   {:?}", &ph.runs()[..ph.runs().len().min(12)], &ph2.runs()[..ph2.runs().len().min(12)]);
            }
        }
    }
}
