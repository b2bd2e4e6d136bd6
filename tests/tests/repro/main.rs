//! Recordings: the keeper against recorders that misbehave, the command, and real recordings.

mod command;

mod keeper;

// libtorch with CUDA is made for this platform.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod places;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod recordings;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod walls;
