//! Tests of recordings by the recorder process: single ones, sweeps, and the gallery.

mod gallery;
mod repro;
#[cfg(target_os = "linux")]
mod run;
mod sweep;
