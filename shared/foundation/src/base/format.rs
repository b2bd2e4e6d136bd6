//! Formats bytes, counts, durations, percentages, addresses and the moments of a trace for people.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Formats bytes in binary units with three significant digits: `0 B`, `512 B`, `1.50 KiB`, `0.986 GiB`, `12.3 GiB`.
///
/// The unit changes at 1000 of it, so that no figure has four digits before its unit.
pub fn bytes(size_bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if size_bytes < 1000 {
        return format!("{size_bytes} B");
    }
    let mut value = size_bytes as f64 / 1024.0;
    let mut unit = 0;
    // From 999.5 on, a value would be printed with four digits.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = match value {
        ..0.9995 => 3,
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// Formats a count with a comma between groups of three digits: `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count and its noun, with an `s` unless the count is 1: `1 event`, `2,000 events`.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// Formats a difference with its sign: `+1.50 KiB`, `−3`, `±0`.
pub fn signed(value: i64, text: fn(u64) -> String) -> String {
    let sign = match value.signum() {
        1 => "+",
        -1 => "−",
        _ => "±",
    };
    format!("{sign}{}", text(value.unsigned_abs()))
}

/// Formats a duration in microseconds: `0 µs`, `850 µs`, `12.3 ms`, `4.56 s`, `2 min 5 s`, `1 h 2 min`.
pub fn duration(time_us: u64) -> String {
    let three = |value: f64| format!("{value:.*}", if value < 9.995 { 2 } else { usize::from(value < 99.95) });
    match time_us {
        0..1000 => format!("{time_us} µs"),
        1000..999_500 => format!("{} ms", three(time_us as f64 / 1e3)),
        999_500..59_950_000 => format!("{} s", three(time_us as f64 / 1e6)),
        59_950_000..3_599_500_000 => {
            let seconds = (time_us + 500_000) / 1_000_000;
            format!("{} min {} s", seconds / 60, seconds % 60)
        }
        _ => {
            let minutes = (time_us / 1_000_000 + 30) / 60;
            format!("{} h {} min", minutes / 60, minutes % 60)
        }
    }
}

/// Formats a time in milliseconds since the Unix epoch as `2026-11-23 09:05:00`.
pub fn date_and_time(epoch_ms: i64) -> String {
    const DAY_MS: i64 = 86_400_000;
    // Days since 0000-03-01, so that the leap day is the last one of its year: Howard Hinnant, "chrono-compatible
    // low-level date algorithms", `civil_from_days`.
    let days = epoch_ms.div_euclid(DAY_MS) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year_of_era + era * 400 + next;
    format!("{year:04}-{month:02}-{day:02} {}", time_of_day(epoch_ms.rem_euclid(DAY_MS)))
}

/// Formats a time in milliseconds since midnight as `09:05:00`; hours beyond 24 are of later days.
pub fn time_of_day(ms: i64) -> String {
    let seconds = ms.div_euclid(1000);
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Formats a share in percent: `0 %`, `<0.1 %`, `0.4 %`, `12 %`, `100 %`.
///
/// Returns `–` if `whole` is 0.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let value = part as f64 * 100.0 / whole as f64;
    if part > 0 && value < 0.05 {
        return "<0.1 %".to_owned();
    }
    format!("{value:.*} %", usize::from(value > 0.0 && value < 9.95))
}

/// Formats a device address as PyTorch prints it: `0x7f3a00000000`.
pub fn address(addr: u64) -> String {
    format!("{addr:#x}")
}

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
            Some(event) => write!(f, "after event {}", count(u64::from(event))),
            None => f.write_str("before the first event"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_leap_days() {
        assert_eq!(date_and_time(0), "1970-01-01 00:00:00");
        assert_eq!(date_and_time(1_709_164_800_000), "2024-02-29 00:00:00");
        assert_eq!(date_and_time(1_795_448_812_999), "2026-11-23 15:46:52");
        assert_eq!(date_and_time(-1), "1969-12-31 23:59:59");
        assert_eq!(time_of_day(90_061_000), "25:01:01");
    }

    #[track_caller]
    fn check<T>(format: impl Fn(T) -> String, value: T, text: &str) {
        assert_eq!(format(value), text);
    }

    #[test]
    fn bytes_use_binary_units() {
        check(bytes, 0, "0 B");
        check(bytes, 999, "999 B");
        check(bytes, 1000, "0.977 KiB");
        check(bytes, 1023, "0.999 KiB");
        check(bytes, 1024, "1.00 KiB");
        check(bytes, 999 << 20, "999 MiB");
        check(bytes, (999 << 20) + (1 << 19), "0.976 GiB");
        check(bytes, 1010 << 20, "0.986 GiB");
        check(bytes, (1 << 30) - 1, "1.00 GiB");
        check(bytes, 9_995 << 20, "9.76 GiB");
        check(bytes, 1536, "1.50 KiB");
        check(bytes, 1024 * 1024 - 1, "1.00 MiB");
        check(bytes, 12_884_901_888, "12.0 GiB");
        check(bytes, 137_438_953_472, "128 GiB");
        check(bytes, u64::MAX, "16.0 EiB");
    }

    #[test]
    fn counts_are_grouped() {
        check(count, 0, "0");
        check(count, 999, "999");
        check(count, 1000, "1,000");
        check(count, 12_345_678, "12,345,678");
        assert_eq!(counted(1, "event"), "1 event");
        assert_eq!(counted(2000, "event"), "2,000 events");
    }

    #[test]
    fn durations_choose_their_unit() {
        check(duration, 0, "0 µs");
        check(duration, 1500, "1.50 ms");
        check(duration, 999_499, "999 ms");
        check(duration, 4_560_000, "4.56 s");
        check(duration, 125_000_000, "2 min 5 s");
        check(duration, 3_720_000_000, "1 h 2 min");
    }

    #[test]
    fn percents_of_nothing_are_no_number() {
        assert_eq!(percent(1, 0), "–");
        assert_eq!(percent(1, 3), "33 %");
        assert_eq!(percent(1, 200), "0.5 %");
        assert_eq!(percent(1, 2001), "<0.1 %");
        assert_eq!(percent(0, 200), "0 %");
    }

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
