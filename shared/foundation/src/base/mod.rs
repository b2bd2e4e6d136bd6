//! Building blocks without knowledge of pickles or traces.
//!
//! Invariant: nothing here knows another module.

mod column;
mod diagnostic;
mod feed;
pub mod file_names;
pub mod format;
pub mod frame_rules;
mod handle;
mod interner;
pub mod markup;
mod metrics;
mod names;
mod packed;
mod pieces;
mod short_sort;
pub mod size;
pub mod stack_label;
pub mod stamp;

/// For [`names!`](crate::names), which other crates expand.
#[cfg(feature = "openapi")]
#[doc(hidden)]
pub use utoipa;

pub use column::Column;
pub use diagnostic::{Diagnostic, Severity};
pub use feed::{Feed, Lines, Scan, Scanned, Sink, Unpacker, is_text, unpacked_head};
pub use format::Moment;
pub use frame_rules::OwnCode;
pub(crate) use handle::handle;
pub use interner::{StringId, StringTable};
pub use metrics::{Metric, MetricHead, MetricTime};
pub use packed::{PackedColumn, Word};
pub use pieces::pieces;
pub use short_sort::ShortSort;
pub use stack_label::StackLabel;
