//! Measures a server behind a proxy under load, for `./dev load`.
//!
//! Server and proxy run in separate processes on this machine, with the server's default limits. The clients run in
//! this process, each with its own address.

mod client;
mod figures;
mod idle;
mod loaded;
mod proxy;
mod reads;
mod uploads;

/// Measures everything and prints the tables.
///
/// # Panics
///
/// Panics if the server is not built or does not answer as expected.
pub fn run() {
    idle::print();
    reads::print();
    uploads::print();
}
