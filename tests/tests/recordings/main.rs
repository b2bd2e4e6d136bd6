//! Tests of recordings by the recorder process: single ones, sweeps, and the gallery.

#[cfg(target_os = "linux")]
mod ci;
#[cfg(target_os = "linux")]
mod fix_config;
mod gallery;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod mcp;
#[cfg(target_os = "linux")]
mod readme;
#[cfg(target_os = "linux")]
mod record;
mod repro;
#[cfg(target_os = "linux")]
pub(crate) mod run;
#[cfg(target_os = "linux")]
mod scene;
mod sweep;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod wheel;
