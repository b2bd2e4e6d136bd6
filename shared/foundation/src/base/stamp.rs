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

/// Beginnings of the names of months in English, German, French, Spanish, Italian, Portuguese, Dutch and Russian.
const MONTHS: [&[&str]; 12] = [
    &["jan", "gen", "ene", "янв"],
    &["feb", "fév", "fev", "фев"],
    &["mar", "mär", "mrz", "maa", "mrt", "мар"],
    &["apr", "avr", "abr", "апр"],
    &["may", "mai", "mag", "mei", "май", "мая"],
    &["jun", "juin", "giu", "июн"],
    &["jul", "juil", "lug", "июл"],
    &["aug", "aoû", "ago", "авг"],
    &["sep", "set", "сен"],
    &["oct", "okt", "ott", "out", "окт"],
    &["nov", "ноя"],
    &["dec", "dez", "déc", "dic", "дек"],
];

/// Offsets in minutes of the abbreviations of time zones that mean one zone almost everywhere.
const ZONES: [(i64, &str); 11] = [
    (0, "UTC GMT Z WET"),
    (60, "WEST BST CET MEZ"),
    (120, "CEST MESZ EET"),
    (180, "EEST MSK"),
    (480, "HKT"),
    (540, "JST KST"),
    (-240, "EDT"),
    (-300, "EST CDT"),
    (-360, "MDT"),
    (-420, "PDT"),
    (-480, "PST"),
];

/// Words that a line of `date` may have besides those that are understood: names of weekdays, and the like.
const MOST_WORDS: usize = 3;

/// Longest time, in bytes.
const LONGEST_BYTES: usize = 80;

/// Words of the longest time, with the brackets around it.
const MOST_TOKENS: usize = 9;

/// Signs around and behind times.
const BRACKETS: [char; 8] = ['[', ']', '=', '-', '#', '|', ':', ' '];

/// Returns the time that a line consists of; `None` if the line says anything else.
pub fn stamp(line: &str) -> Option<Stamp> {
    let line = line.trim().trim_matches(BRACKETS);
    if line.len() > LONGEST_BYTES {
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
        half @ Some(_) => (in_half(time_ms, half), after),
        None => (time_ms, rest),
    };
    Some((Stamp { day: None, time_ms, offset_min: None }, rest))
}

/// Returns the times with a date that may begin a line, each with the rest of the line, the most plausible first.
///
/// Only the rest tells where the time ends: `root` in `Mon Nov 23 15:46:52 UTC 2026 root 17` could be a time zone.
pub fn leading_dates(line: &str) -> Vec<(Stamp, &str)> {
    let line = line.trim_start();
    if let Some((first, rest)) = line.split_once(' ')
        && let Some(stamp) = epoch(first.trim_matches(BRACKETS))
    {
        return vec![(stamp, rest.trim_start())];
    }
    // Nearly all lines of a training have no time at their beginning.
    let beginning = &line.as_bytes()[..line.len().min(LONGEST_BYTES)];
    let is_time = |bytes: &[u8]| bytes[0].is_ascii_digit() && bytes[1] == b':' && bytes[2].is_ascii_digit();
    let has_compact =
        || line.split_ascii_whitespace().next().is_some_and(|word| compact(word.trim_matches(BRACKETS)).is_some());
    if !beginning.windows(3).any(is_time) && !has_compact() {
        return Vec::new();
    }
    let (mut ends_well, mut ends_in_word) = (Vec::new(), Vec::new());
    let (mut parts, mut end) = (Parts::default(), 0);
    for token in line.split_ascii_whitespace().take(MOST_TOKENS) {
        let start = end + line[end..].find(token).unwrap_or(0);
        end = start + token.len();
        let rest = line[end..].trim_start();
        let token = token.trim_matches(BRACKETS);
        let Some(says_something) = (if token.is_empty() { Some(false) } else { parts.take(token) }) else { break };
        if let Some(stamp) = parts.stamp().filter(|_| parts.has_date() && !rest.is_empty()) {
            if says_something { &mut ends_well } else { &mut ends_in_word }.push((stamp, rest));
        }
    }
    ends_well.into_iter().rev().chain(ends_in_word.into_iter().rev()).collect()
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
    let mut parts = Parts::default();
    line.split_ascii_whitespace().try_for_each(|token| parts.take(token).map(drop))?;
    parts.stamp()
}

/// Parts of a written time that were read so far.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    time_ms: Option<i64>,
    half: Option<Half>,
    offset_min: Option<i64>,
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    /// Number of words that say nothing, such as weekdays.
    words: usize,
}

impl Parts {
    /// Takes the next word; returns whether it says something, or `None` if it is not of a time.
    fn take(&mut self, token: &str) -> Option<bool> {
        let token = token.trim_end_matches(',');
        if let Some((date, time_ms)) = compact(token) {
            self.date(date);
            return self.time_ms.replace(time_ms).is_none().then_some(true);
        }
        // `2026-11-27T16:25:57`, `2026-11-27_16:25:57`, `11/27/26-16:25:57`
        let split = token.match_indices(['T', '_', '-']).map(|(at, _)| (&token[..at], &token[at + 1..]));
        let token =
            match split.filter(|(_, time)| time.contains(':')).find_map(|(date, time)| Some((date_of(date)?, time))) {
                Some((date, time)) => {
                    self.date(date);
                    time
                }
                None => token,
            };
        if let Some((of_day, rest)) = time_with_zone(token) {
            if self.time_ms.replace(of_day).is_some() {
                return None;
            }
            self.offset_min = self.offset_min.or_else(|| zone(rest));
        } else if let Some(of_day) = half_of_day(token) {
            self.half = Some(of_day);
        } else if let Some(date) = date_of(token) {
            self.date(date);
        } else if let Some((number, sign)) = counted_in_signs(token) {
            *[&mut self.year, &mut self.month, &mut self.day][sign] = Some(number);
        } else if let Ok(number) = token.trim_end_matches('.').parse::<i64>() {
            match number {
                1..=31 if self.day.is_none() => self.day = Some(number),
                1970..=9999 if self.year.is_none() => self.year = Some(number),
                _ => return None,
            }
        } else if let Some(of_name) = zone(token) {
            self.offset_min = Some(of_name);
        } else if let (None, Some(of_name)) = (self.month, month_of(token)) {
            self.month = Some(of_name);
        } else if token.chars().all(|c| c.is_alphabetic() || c == '.') && self.words < MOST_WORDS {
            self.words += 1;
            return Some(false);
        } else {
            return None;
        }
        Some(true)
    }

    fn date(&mut self, (year, month, day): (i64, i64, i64)) {
        (self.year, self.month, self.day) = (Some(year), Some(month), Some(day));
    }

    fn has_date(&self) -> bool {
        self.year.is_some() || (self.month.is_some() && self.day.is_some())
    }

    fn stamp(&self) -> Option<Stamp> {
        let time_ms = in_half(self.time_ms?, self.half);
        // Words alone do not make a date: "done at 10:12:01" is a line of a training log.
        if !self.has_date() && self.words > 0 {
            return None;
        }
        let date = self.year.zip(self.month).zip(self.day);
        let day = date.and_then(|((year, month), day)| days(year, month, day));
        Some(Stamp { day, time_ms, offset_min: self.offset_min })
    }
}

/// Reads a year, month or day of Chinese, Japanese or Korean dates, such as `11月`; returns the number and which it is.
fn counted_in_signs(token: &str) -> Option<(i64, usize)> {
    let sign = token.chars().next_back()?;
    let which = ["年년", "月월", "日일"].iter().position(|signs| signs.contains(sign))?;
    let number = token.strip_suffix(sign)?.parse().ok()?;
    [1970..=9999, 1..=12, 1..=31][which].contains(&number).then_some((number, which))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
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

fn in_half(time_ms: i64, half: Option<Half>) -> i64 {
    const HOUR: i64 = 3_600_000;
    match half {
        Some(Half::Morning) if time_ms >= 12 * HOUR => time_ms - 12 * HOUR,
        Some(Half::Afternoon) if time_ms < 12 * HOUR => time_ms + 12 * HOUR,
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

/// Reads a date of numbers: `2026-11-27`, `27.11.2026`, `11/27/26`; of two that can be both, the month is first in `11/12`.
fn date_of(token: &str) -> Option<(i64, i64, i64)> {
    let sign = token.chars().find(|c| !c.is_ascii_digit())?;
    let parts: Vec<&str> = token.split(sign).collect();
    let [first, second, third] = parts[..] else { return None };
    let is_number = |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    if !"-/.".contains(sign) || !parts.iter().all(is_number) {
        return None;
    }
    let number = |part: &str| part.parse::<i64>().ok();
    let (year, month, day) = match (first.len(), third.len()) {
        (4, 1 | 2) => (number(first)?, number(second)?, number(third)?),
        (1 | 2, 2 | 4) => {
            let year = number(third)? + if third.len() == 2 { 2000 } else { 0 };
            let (first, second) = (number(first)?, number(second)?);
            if second > 12 || (sign == '/' && first <= 12) { (year, first, second) } else { (year, second, first) }
        }
        _ => return None,
    };
    ((1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day))
        .then_some((year, month, day))
}

/// Reads `20261127-162557`, in which any character may stand between the date and the time.
fn compact(token: &str) -> Option<((i64, i64, i64), i64)> {
    let is_digit = |at: usize| token.as_bytes()[at].is_ascii_digit();
    if token.len() != 15 || !token.is_ascii() || is_digit(8) || !(0..15).all(|at| at == 8 || is_digit(at)) {
        return None;
    }
    let part = |from: usize, to: usize| &token[from..to];
    let date = date_of(&[part(0, 4), part(4, 6), part(6, 8)].join("-"))?;
    Some((date, time_of_day(&[part(9, 11), part(11, 13), part(13, 15)].join(":"))?))
}

fn month_of(token: &str) -> Option<i64> {
    let name = token.to_lowercase();
    let is_of = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
    (name.chars().count() >= 3).then(|| MONTHS.iter().position(|names| is_of(names)))?.map(|month| month as i64 + 1)
}

fn zone(token: &str) -> Option<i64> {
    if let Some(&(offset_min, _)) = ZONES.iter().find(|(_, names)| names.split(' ').any(|name| name == token)) {
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
            "Пн 23 ноя 2026 15:46:52 UTC",
            "2026年 11月 23日 月曜日 15:46:52 UTC",
            "2026년 11월 23일 월요일 15:46:52 UTC",
            "Mo 23. Nov 16:46:52 CET 2026",
            "lun. 23 nov. 2026 16:46:52 CET",
            "lun 23 nov 2026 15:46:52 UTC",
            "2026-11-23T15:46:52+00:00",
            "2026-11-23T15:46:52,000000000+00:00",
            "2026-11-23T10:46:52-05:00",
            "2026-11-23 15:46:52",
            "== 2026-11-23 15:46:52 ==",
            "2026-11-23_15:46:52",
            "23.11.2026 15:46:52",
            "23/11/2026 15:46:52",
            "11/23/26-15:46:52",
            "11/23/2026 03:46:52 PM",
            "20261123-154652",
            "20261123_154652",
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
            "2.12.0 10:12:01",
            "2026.11 10:12:01",
            "root 1 0.0 0.1 168 13 ? Ss 10:12 0:04 /sbin/init",
        ] {
            assert_eq!(stamp(line), None, "{line}");
        }
    }

    #[test]
    fn a_date_may_begin_a_line() {
        let row = "root 17 0.0 0.1";
        for date in [
            "Mon Nov 23 15:46:52 UTC 2026",
            "Mon Nov 23 03:46:52 PM UTC 2026",
            "lun. 23 nov. 2026 16:46:52 CET",
            "2026年 11月 23日 月曜日 15:46:52 UTC",
            "2026-11-23T15:46:52+00:00",
            "[2026-11-23 15:46:52]",
            "[ 2026-11-23 15:46:52 ]",
            "2026-11-23 15:46:52:",
            "23.11.2026 15:46:52",
            "[20261123-154652]",
            "2026-11-23 15:46:52 |",
            "1795448812",
        ] {
            let line = format!("{date} {row}");
            let rests: Vec<_> = leading_dates(&line).into_iter().filter(|(_, rest)| *rest == row).collect();
            assert_eq!(rests.first().and_then(|(stamp, _)| stamp.epoch_ms()), Some(1_795_448_812_000), "{line}");
        }
        let first = |line: &str| leading_dates(line).first().map(|(_, rest)| rest.to_string());
        assert_eq!(first("Mon Nov 23 15:46:52 UTC 2026 USER PID"), Some("USER PID".to_owned()));
        assert_eq!(first("2026-11-23 15:46:52 17 1 81234"), Some("17 1 81234".to_owned()));
        assert_eq!([first("10:12:01 PM UID PID"), first("step 3 of 7"), first("")], [None, None, None]);
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
