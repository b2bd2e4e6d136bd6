//! Measures CPU and memory use of an idle server.

use std::time::Duration;

use shared::base::format::bytes;

use super::loaded::Loaded;
use crate::bench::Table;
use testkit::process::{cpu_seconds, peak_memory_bytes};

const DURING: Duration = Duration::from_secs(30);

pub(super) fn print() {
    let mut table = Table::new("The server when nobody asks", &["jobs at once", "of a processor", "memory"]);
    for jobs in [0, 2] {
        let loaded = Loaded::start(jobs);
        let pid = loaded.server.pid();
        // The start is over by then.
        std::thread::sleep(Duration::from_secs(3));
        let before_s = cpu_seconds(pid).expect("Linux");
        std::thread::sleep(DURING);
        let share = (cpu_seconds(pid).expect("Linux") - before_s) / DURING.as_secs_f64();
        let memory = bytes(peak_memory_bytes(pid).expect("Linux"));
        table.row(&[jobs.to_string(), format!("{:.2} %", share * 100.0), memory]);
    }
    table.print();
}
