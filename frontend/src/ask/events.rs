//! Defines the questions about single events and their answers.

use super::timeline::Hit;
use serde::{Deserialize, Serialize};
use shared::report::{EventLine, EventReport};

/// Asks for a range of a device's events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetEvents {
    pub device: u32,
    /// Index of the first event.
    pub first: u32,
    /// Maximum number of events.
    pub count: u32,
}

/// Asks for all about one event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetEvent {
    pub device: u32,
    pub event: u32,
}

/// Range of events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventPage {
    /// Index of the first event.
    pub first: u32,
    pub lines: Vec<EventLine>,
}

/// Event with the allocation that it begins or ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventDetails {
    pub report: EventReport,
    /// The allocation as a click on it would have hit it, if the event belongs to one.
    pub hit: Option<Hit>,
}
