//! Reads the times that `date` and other tools print, in the languages that they print them in.

/// Time in a log, as far as it is stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Days since 1970-01-01; `None` if only the time of day is stated.
    pub day: Option<i64>,
    /// Milliseconds since midnight.
    pub time_ms: i64,
    /// Offset of the time zone from UTC in minutes, if it is stated and known.
    pub offset_min: Option<i64>,
}

/// Beginnings of the names of months in English, German, French, Spanish, Italian, Portuguese and Dutch.
const MONTHS: [&[&str]; 12] = [
    &["jan", "gen", "ene"],
    &["feb", "fév", "fev"],
    &["mar", "mär", "mrz", "maa", "mrt"],
    &["apr", "avr", "abr"],
    &["may", "mai", "mag", "mei"],
    &["jun", "juin", "giu"],
    &["jul", "juil", "lug"],
    &["aug", "aoû", "ago"],
    &["sep", "set"],
    &["oct", "okt", "ott", "out"],
    &["nov"],
    &["dec", "dez", "déc", "dic"],
];

/// Offsets in minutes of the abbreviations of time zones that mean one zone almost everywhere.
const ZONES: [(&str, i64); 22] = [
    ("UTC", 0),
    ("GMT", 0),
    ("Z", 0),
    ("WET", 0),
    ("WEST", 60),
    ("BST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("MEZ", 60),
    ("MESZ", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("JST", 540),
    ("KST", 540),
    ("HKT", 480),
    ("EST", -300),
    ("EDT", -240),
    ("CDT", -300),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
];

/// Words that a line of `date` may have besides those that are understood: names of weekdays, and the like.
const MOST_WORDS: usize = 3;

/// Returns the time that a line consists of; `None` if the line says anything else.
pub fn stamp(line: &str) -> Option<Stamp> {
    let line = line.trim().trim_matches(['[', ']', '=', '-', '#', ' ']);
    if line.len() > 80 {
        return None;
    }
    epoch(line).or_else(|| written(line))
}

/// Returns the time and the rest of a line that begins with a time of day, such as `10:12:01 AM rest`.
pub fn leading_time(line: &str) -> Option<(Stamp, &str)> {
    let (first, rest) = line.trim_start().split_once(char::is_whitespace)?;
    let time_ms = time_of_day(first)?;
    let rest = rest.trim_start();
    let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (time_ms, rest) = match half_of_day(word) {
        Some(half) => (in_half(time_ms, half), after),
        None => (time_ms, rest),
    };
    Some((Stamp { day: None, time_ms, offset_min: None }, rest))
}

/// Reads seconds or milliseconds since the Unix epoch, of the years 2001 to 2286.
fn epoch(text: &str) -> Option<Stamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let ms = match whole.len() {
        10 => whole.parse::<i64>().ok()? * 1000 + millis(fraction),
        13 => whole.parse().ok()?,
        _ => return None,
    };
    Some(Stamp::of_epoch(ms))
}

fn written(line: &str) -> Option<Stamp> {
    let (mut time_ms, mut half, mut offset_min) = (None, None, None);
    let (mut year, mut month, mut day) = (None, None, None);
    let mut words = 0;
    for token in line.split_ascii_whitespace().map(|token| token.trim_end_matches(',')) {
        let token = match token.split_once('T').filter(|(date, _)| iso_date(date).is_some()) {
            Some((date, time)) => {
                (year, month, day) = iso_date(date).map(|(y, m, d)| (Some(y), Some(m), Some(d)))?;
                time
            }
            None => token,
        };
        if let Some((of_day, rest)) = time_with_zone(token) {
            if time_ms.replace(of_day).is_some() {
                return None;
            }
            offset_min = offset_min.or_else(|| zone(rest));
        } else if let Some(of_day) = half_of_day(token) {
            half = Some(of_day);
        } else if let Some((y, m, d)) = iso_date(token) {
            (year, month, day) = (Some(y), Some(m), Some(d));
        } else if let Ok(number) = token.trim_end_matches('.').parse::<i64>() {
            match number {
                1..=31 if day.is_none() => day = Some(number),
                1970..=9999 if year.is_none() => year = Some(number),
                _ => return None,
            }
        } else if let Some(of_name) = zone(token) {
            offset_min = Some(of_name);
        } else if let (None, Some(of_name)) = (month, month_of(token)) {
            month = Some(of_name);
        } else if token.chars().all(|c| c.is_alphabetic() || c == '.') && words < MOST_WORDS {
            words += 1;
        } else {
            return None;
        }
    }
    let time_ms = in_half(time_ms?, half.unwrap_or(Half::None));
    // Words alone do not make a date: "done at 10:12:01" is a line of a training log.
    let has_date = year.is_some() || (month.is_some() && day.is_some());
    if !has_date && words > 0 {
        return None;
    }
    let day = year.zip(month).zip(day).and_then(|((year, month), day)| days(year, month, day));
    Some(Stamp { day, time_ms, offset_min })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    None,
    Morning,
    Afternoon,
}

fn half_of_day(token: &str) -> Option<Half> {
    match token.to_ascii_uppercase().as_str() {
        "AM" | "A.M." => Some(Half::Morning),
        "PM" | "P.M." => Some(Half::Afternoon),
        _ => None,
    }
}

fn in_half(time_ms: i64, half: Half) -> i64 {
    const HOUR: i64 = 3_600_000;
    match half {
        Half::Morning if time_ms >= 12 * HOUR => time_ms - 12 * HOUR,
        Half::Afternoon if time_ms < 12 * HOUR => time_ms + 12 * HOUR,
        _ => time_ms,
    }
}

/// Reads `10:12:01`, `10:12:01.25`, `10:12:01+02:00` and `10:12:01Z`; returns the time and the zone.
fn time_with_zone(token: &str) -> Option<(i64, &str)> {
    let end = token.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.' | ','))).unwrap_or(token.len());
    Some((time_of_day(&token[..end])?, &token[end..]))
}

fn time_of_day(token: &str) -> Option<i64> {
    let mut parts = token.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let (seconds, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, ""));
    let number = |text: &str, most: i64| {
        let is_number = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<i64>().ok()).flatten().filter(|&number| number <= most)
    };
    if parts.next().is_some() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds_of_day = number(hours, 23)? * 3600 + number(minutes, 59)? * 60 + number(seconds, 60)?;
    Some(seconds_of_day * 1000 + millis(fraction))
}

/// Returns the milliseconds of the digits behind a decimal point.
fn millis(fraction: &str) -> i64 {
    let digits = fraction.bytes().chain(*b"000").take(3);
    digits.fold(0, |sum, digit| sum * 10 + i64::from(digit.saturating_sub(b'0')))
}

fn iso_date(token: &str) -> Option<(i64, i64, i64)> {
    let mut parts = token.splitn(3, ['-', '/']).map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    ((1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day))
        .then_some((year, month, day))
}

fn month_of(token: &str) -> Option<i64> {
    let name = token.to_lowercase();
    let is_of = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
    (name.chars().count() >= 3).then(|| MONTHS.iter().position(|names| is_of(names)))?.map(|month| month as i64 + 1)
}

fn zone(token: &str) -> Option<i64> {
    if let Some(&(_, offset_min)) = ZONES.iter().find(|(name, _)| *name == token) {
        return Some(offset_min);
    }
    let sign = match token.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits: String = token[1..].chars().filter(|c| *c != ':').collect();
    let number: i64 = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
    match digits.len() {
        2 => Some(sign * number * 60),
        4 => Some(sign * (number / 100 * 60 + number % 100)),
        _ => None,
    }
}

/// Returns the days from 1970-01-01 to a date of the Gregorian calendar; `None` if there is no such month or day.
///
/// Algorithm `days_from_civil` of Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

impl Stamp {
    /// Milliseconds of a day.
    pub const DAY_MS: i64 = 86_400_000;

    /// Creates the stamp of a time in milliseconds since the Unix epoch.
    pub fn of_epoch(ms: i64) -> Self {
        let (day, time_ms) = (ms.div_euclid(Self::DAY_MS), ms.rem_euclid(Self::DAY_MS));
        Self { day: Some(day), time_ms, offset_min: Some(0) }
    }

    /// Returns the milliseconds since the Unix epoch; `None` without a date.
    pub fn epoch_ms(&self) -> Option<i64> {
        self.day.map(|day| day * Self::DAY_MS + self.time_ms - self.offset_min.unwrap_or(0) * 60_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, seconds: i64) {
        assert_eq!(stamp(line).and_then(|stamp| stamp.epoch_ms()), Some(seconds * 1000), "{line}");
    }

    #[test]
    fn dates_of_many_locales() {
        // 2026-11-23 15:46:52 UTC, as GNU date prints it for several values of LC_TIME and TZ.
        for line in [
            "Mon Nov 23 15:46:52 UTC 2026",
            "Mon 23 Nov 2026 03:46:52 PM UTC",
            "Mon Nov 23 16:46:52 CET 2026",
            "Mo 23. Nov 16:46:52 CET 2026",
            "lun. 23 nov. 2026 16:46:52 CET",
            "lun 23 nov 2026 15:46:52 UTC",
            "2026-11-23T15:46:52+00:00",
            "2026-11-23T15:46:52,000000000+00:00",
            "2026-11-23T10:46:52-05:00",
            "2026-11-23 15:46:52",
            "== 2026-11-23 15:46:52 ==",
            "1795448812",
            "1795448812.000",
            "1795448812000",
        ] {
            check(line, 1_795_448_812);
        }
        check("Mo 2. Mär 16:46:52 CET 2026", 1_772_466_412);
        check("1 août 2026 00:00:00 UTC", 1_785_542_400);
        check("Thu Feb 29 00:00:00 UTC 2024", 1_709_164_800);
    }

    #[test]
    fn times_of_day_are_stamps_without_a_date() {
        let at = |line: &str| stamp(line).map(|stamp| (stamp.day, stamp.time_ms));
        assert_eq!(at("10:12:01"), Some((None, 36_721_000)));
        assert_eq!(at("12:00:00 AM"), Some((None, 0)));
        assert_eq!(at("12:30:00.25 PM"), Some((None, 45_000_250)));
        // The month is in no language that is known here, so only the time counts.
        assert_eq!(at("pon, 23 lis 2026, 15:46:52 CET"), Some((None, 56_812_000)));
    }

    #[test]
    fn other_lines_are_no_stamps() {
        for line in [
            "",
            "step 12 at 10:12:01",
            "loss 0.25",
            "python train.py",
            "100",
            "10:12",
            "25:00:00",
            "00:00:00 01:00:00",
            "root 1 0.0 0.1 168 13 ? Ss 10:12 0:04 /sbin/init",
        ] {
            assert_eq!(stamp(line), None, "{line}");
        }
    }

    #[test]
    fn a_time_may_begin_a_line() {
        let (stamp, rest) = leading_time("10:12:01 PM   UID  PID").unwrap();
        assert_eq!((stamp.time_ms, rest.trim()), (79_921_000, "UID  PID"));
        let (stamp, rest) = leading_time("10:12:01   0  17").unwrap();
        assert_eq!((stamp.time_ms, rest), (36_721_000, "0  17"));
        assert_eq!(leading_time("17 0 0"), None);
    }
}
