//! Replays the requests of a trace on an allocator with other settings, or on another device.
//!
//! A trace contains what the allocator did; a replay needs what was requested of it (`steps.rs`).
//! Memory from before the trace is reconstructed backwards from the final segments: live blocks without an `alloc` are
//! known to the byte, freed ones by their address and request.
//! With the recorded settings, the device gives the recorded addresses (`verify.rs`); with others, it gives them in the
//! order of the virtual GPU.
//! The keys of the settings tell which release of PyTorch recorded the trace.
//!
//! A replay can be written as a trace of its own: each step writes its events with the stack and the time of the event
//! that made the request, so that whatever opens a snapshot can open a replay.
//! Findings replay only if they need to, and only a limited number of events.

mod initial;
mod recorded;
mod settings;
mod steps;

mod batch;
mod course;
mod run;
mod stuck;
mod sweep;
mod synthetic;
mod verify;
mod whole_step;

pub use batch::{BatchScale, BatchSearch};
pub use course::ReplayColumn;
pub use recorded::{RecordedColumn, RecordedEvent, recorded_calls, recorded_course};
pub use run::{CONTEXT_BYTES, ReplayConfig, ReplayOom, ReplayReport, Replayer, replay};
pub use settings::{default_settings, recorded_capacity, recorded_settings, recorded_version, settings_variable};
pub use stuck::Stuck;
pub use sweep::{CardChoice, Sweep, SweepConfig, SweepReport, Trial};
pub use verify::{Difference, Verification, VerifyError, verify};
pub use whole_step::{Outlook, StepBasis, WholeStep};
