//! Replays the requests of a trace on an allocator with other settings, or on another device.

mod initial;
mod recorded;
mod runner;
mod settings;
mod steps;

mod batch;
mod course;
mod recorded_course;
mod run;
mod stuck;
mod sweep;
mod synthetic;
mod verify;
mod whole_step;

pub use batch::{BatchScale, BatchSearch};
pub use course::ReplayColumn;
pub use recorded_course::{RecordedColumn, recorded_calls, recorded_course};
pub use run::{CONTEXT_BYTES, ReplayConfig, ReplayOom, ReplayReport, Replayer, replay};
pub use settings::{default_settings, recorded_capacity, recorded_settings, recorded_version, settings_variable};
pub use stuck::Stuck;
pub use sweep::{CardChoice, Sweep, SweepConfig, SweepReport, Trial};
pub use verify::{Difference, RecordedEvent, Verification, VerifyError, verify};
pub use whole_step::{Outlook, StepBasis, WholeStep};
