use shared::analysis::*;
use shared::trace::*;
use std::time::Instant;
fn time<T>(label: &str, mut f: impl FnMut() -> T) -> T {
    let mut best = f64::MAX;
    let mut out = None;
    for _ in 0..3 {
        let t = Instant::now();
        out = Some(f());
        best = best.min(t.elapsed().as_secs_f64());
    }
    println!("{label:40} {:8.2} ms", best * 1e3);
    out.unwrap()
}
fn show(name: &str, trace: &Trace) {
    let d = trace.devices.iter().max_by_key(|d| d.events.len()).unwrap();
    println!("== {name}: {} events", d.events.len());
    let t = time("timeline", || Timeline::new(trace, d));
    let (m, peak) = t.live_peak();
    println!("   allocs {} peak {} @{}", t.allocations.len(), peak, m);
    for (l, axis, x, y) in [
        ("whole", Axis::Events, (0., 1.), (0., 1.05)),
        ("whole time", Axis::Time, (0., 1.), (0., 1.05)),
        ("y zoom top", Axis::Events, (0., 1.), (0.9, 0.95)),
        ("y zoom deep", Axis::Events, (0., 1.), (0.5, 0.501)),
        ("y zoom deep bottom", Axis::Events, (0., 1.), (0.0, 0.001)),
        ("tenth", Axis::Events, (0.8, 0.9), (0., 1.05)),
        ("1/1000", Axis::Events, (0.5, 0.501), (0., 1.05)),
        ("1/1000 deep", Axis::Events, (0.5, 0.501), (0.4, 0.41)),
        ("thousandth time", Axis::Time, (0.5, 0.501), (0., 1.)),
    ] {
        let e = t.x_end(axis);
        let r = PictureRequest {
            axis,
            x0: x.0 * e,
            x1: x.1 * e,
            y0: y.0 * peak as f64,
            y1: y.1 * peak as f64,
            width_px: 1500,
            height_px: 600,
        };
        let p = time(l, || t.picture(d, &r));
        println!("      bands {} steps {} {}", p.bands.len(), p.live.len(), p.reserved.len());
    }
    time("hit", || t.hit(m, peak.saturating_sub(1)));
    time("hit end", || t.hit(t.events(), t.live_at(t.events()).saturating_sub(1)));
    println!("{:?}", Summary::of(d, &t));
}
fn push(d: &mut Device, c: ContextId, action: Action, addr: u64, size: u64) {
    let n = d.events.len() as i64;
    d.events.push(Event {
        action,
        addr,
        size_bytes: size,
        time_us: 1_000_000 + n * 5,
        stack: StackId::NONE,
        context: c,
    });
}
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    for f in &args {
        let b = std::fs::read(f).unwrap();
        let t = std::time::Instant::now();
        match shared::import::import(&b) {
            Ok(tr) => {
                println!("import {:?}", t.elapsed());
                if tr.devices.is_empty() {
                    continue;
                };
                show(f, &tr)
            }
            Err(e) => println!("{f}: {e}"),
        }
    }
    if args.is_empty() {
        let mut tr = Trace::default();
        let c = tr.contexts.intern(EventContext::default());
        let mut d = Device::default();
        for i in 0..1_000_000u64 {
            push(&mut d, c, Action::Alloc, i * 512, 512);
        }
        tr.devices = vec![d];
        show("leak: 1M alive", &tr);
        let mut d = Device::default();
        for i in 0..100_000u64 {
            push(&mut d, c, Action::Alloc, i * 512, 512);
        }
        for i in 0..450_000u64 {
            push(&mut d, c, Action::Alloc, 1 << 40, 4096);
            push(&mut d, c, Action::FreeCompleted, 1 << 40, 4096);
            let j = (i * 7919) % 100_000;
            push(&mut d, c, Action::FreeCompleted, j * 512, 512);
            push(&mut d, c, Action::Alloc, j * 512, 512);
        }
        tr.devices = vec![d];
        show("100k alive, random churn", &tr);
        let mut d = Device::default();
        for i in 0..3000u64 {
            push(&mut d, c, Action::Alloc, i << 22, 1 << 20);
        }
        for i in 0..500_000u64 {
            let j = (i * 7919) % 3000;
            push(&mut d, c, Action::FreeCompleted, j << 22, 1 << 20);
            push(&mut d, c, Action::Alloc, j << 22, 1 << 20 + (i % 7));
        }
        tr.devices = vec![d];
        show("3000 big, random churn", &tr);
    }
}
