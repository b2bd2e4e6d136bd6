//! Tests recordings: the keeper with misbehaving recorders, the command, and real recordings.

mod command;
mod keeper;
// libtorch with CUDA exists for this platform only.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod places;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod recordings;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod walls;
