//! Reports the resources of this process under Prometheus's standard names.

use std::fs;
use std::sync::atomic::AtomicU64;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use rustix::param::{clock_ticks_per_second, page_size};

/// Adds the figures that the operating system provides and omits those that it does not.
pub(super) fn register(registry: &mut Registry) {
    if let Some(pages) = field("/proc/self/statm", 1) {
        let bytes: Gauge = Gauge::default();
        bytes.set((pages * page_size() as u64).cast_signed());
        registry.register_with_unit("process_resident_memory", "Resident memory", Unit::Bytes, bytes);
    }
    if let Some(ticks) = processor_ticks() {
        let seconds = Counter::<f64, AtomicU64>::default();
        seconds.inc_by(ticks as f64 / clock_ticks_per_second() as f64);
        registry.register_with_unit("process_cpu", "Processor time used", Unit::Seconds, seconds);
    }
    if let Ok(open) = fs::read_dir("/proc/self/fd") {
        let files: Gauge = Gauge::default();
        files.set(i64::try_from(open.count()).unwrap_or(i64::MAX));
        registry.register("process_open_fds", "Open files and connections", files);
    }
}

/// Parses one number of a file with space-separated fields.
fn field(file: &str, index: usize) -> Option<u64> {
    fs::read_to_string(file).ok()?.split_ascii_whitespace().nth(index)?.parse().ok()
}

/// Returns the user and system time of this process, in clock ticks.
fn processor_ticks() -> Option<u64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program is in parentheses and may contain spaces.
    let after_name = stat.rsplit_once(')')?.1;
    let mut fields = after_name.split_ascii_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode_registry;

    use super::*;

    #[test]
    fn this_process_takes_memory_and_time() {
        let mut registry = Registry::default();
        register(&mut registry);
        let mut text = String::new();
        encode_registry(&mut text, &registry).unwrap();
        let value = |name: &str| -> f64 {
            let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
            line.and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or_else(|| panic!("{name} in {text}"))
        };
        assert!(value("process_resident_memory_bytes") > 1e6);
        assert!(value("process_open_fds") >= 3.0);
        assert!(value("process_cpu_seconds_total") >= 0.0);
    }
}
