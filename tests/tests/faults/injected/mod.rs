//! Tests faults around the server: each gets a clear answer, nothing is lost, and nothing is left over.

mod bodies;
mod clock;
mod configs;
mod disk;
mod forms;
mod jobs;
mod memory;
mod place;
mod quota;
mod requests;
mod snapshots;
mod store;
mod uploads;
