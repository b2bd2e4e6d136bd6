//! Measures a server behind a proxy under load, for `./dev load`.
//!
//! Server and proxy run in separate processes on this machine, with the server's default limits. The clients run in
//! this process, each with its own address.

mod figures;
mod loaded;
mod proxy;
mod reads;
mod uploads;

use super::bench::Table;
use loaded::Loaded;
use shared::base::format::bytes;
use std::time::Duration;
use testkit::process::{cpu_seconds, peak_memory_bytes};

pub fn run() {
    print();
    reads::print();
    uploads::print();
}

const DURING: Duration = Duration::from_secs(30);

fn print() {
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
