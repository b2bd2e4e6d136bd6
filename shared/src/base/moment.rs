//! Names the moments of a trace.

use super::format;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Moment of a device: 0 is before the first event, and n is after event n - 1.
///
/// Programs get the index of the event instead, which is -1 before the first one; see [`event_number`](Self::event_number).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub u32);

impl Moment {
    /// Returns the last event before the moment, if there is one.
    pub const fn event(self) -> Option<u32> {
        self.0.checked_sub(1)
    }

    /// Returns the index of the last event before the moment, -1 without one.
    pub const fn event_number(self) -> i64 {
        self.0 as i64 - 1
    }

    /// Returns the moment after an event, given its index, or -1 for the moment before the first one.
    ///
    /// Indices that no trace has become the nearest moment.
    pub fn of_event_number(number: i64) -> Self {
        Self(u32::try_from(number.saturating_add(1).max(0)).unwrap_or(u32::MAX))
    }
}

/// A moment is the number of its event wherever it leaves the process.
impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.event_number().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer).map(Self::of_event_number)
    }
}

impl fmt::Display for Moment {
    /// Writes the moment as it follows words such as "live": `after event 1,234`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.event() {
            Some(event) => write!(f, "after event {}", format::count(u64::from(event))),
            None => f.write_str("before the first event"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_named_by_the_event_before_it() {
        assert_eq!(Moment(0).to_string(), "before the first event");
        assert_eq!(Moment(1001).to_string(), "after event 1,000");
        for number in [-1, 0, 7] {
            let moment = Moment::of_event_number(number);
            assert_eq!(moment.event_number(), number);
            assert_eq!(serde_json::to_string(&moment).unwrap(), number.to_string());
            assert_eq!(serde_json::from_str::<Moment>(&number.to_string()).unwrap(), moment);
        }
        assert_eq!(Moment::of_event_number(-9), Moment(0));
        assert_eq!(Moment::of_event_number(i64::MAX), Moment(u32::MAX));
    }
}
