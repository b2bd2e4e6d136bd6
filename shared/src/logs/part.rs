//! Defines what one kind of content adds to the report on a log.

use crate::report::{Finding, LogCurves, LogNotice, LogOwners, LogTable};

/// What a report says about one kind of content of a log.
#[derive(Debug, Default)]
pub(super) struct LogPart {
    pub(super) title: String,
    pub(super) facts: Vec<String>,
    pub(super) curves: Vec<LogCurves>,
    pub(super) owners: Vec<LogOwners>,
    pub(super) findings: Vec<Finding>,
    pub(super) tables: Vec<LogTable>,
    pub(super) notices: Vec<LogNotice>,
}
