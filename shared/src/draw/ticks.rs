//! Computes axis ticks at round values of binary bytes, counts or times, with exact labels.

use super::span::Span;
use crate::base::format;

/// Labelled position on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Position in units of the axis.
    pub value: f64,
    pub label: String,
}

/// Returns the ticks of a byte axis: multiples of a power of two that is at least `min_step` bytes.
///
/// All labels share one unit, chosen so that they are exact with at most three decimals:
/// `0.5 GiB`, `1 GiB`, and deep in a large trace `12,289 MiB`.
pub fn byte_ticks(range: Span, min_step: f64) -> Vec<Tick> {
    let step = min_step.max(1.0).log2().ceil().exp2();
    let (name, unit_bytes) = byte_unit(range.end, step);
    let decimals = decimals_of(step / unit_bytes);
    let label = |value| format!("{} {name}", decimal(value / unit_bytes, decimals));
    multiples(range, step).map(|value| Tick { value, label: label(value) }).collect()
}

/// Returns the name and the size in bytes of the unit of labels.
fn byte_unit(largest: f64, step: f64) -> (&'static str, f64) {
    const NAMES: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let size = |power: usize| 1024f64.powi(power as i32);
    let power = (1..NAMES.len()).take_while(|&power| size(power) <= largest && step * 8.0 >= size(power)).count();
    (NAMES[power], size(power))
}

/// Returns the ticks of a count axis: multiples of 1, 2 or 5 times a power of ten, never fractions.
///
/// They are at least `min_step` apart.
pub fn count_ticks(range: Span, min_step: f64) -> Vec<Tick> {
    let step = round_decimal(min_step.max(1.0));
    multiples(range, step).map(|value| Tick { value, label: format::count(value as u64) }).collect()
}

/// Returns the ticks of a time axis in microseconds, at least `min_step` apart.
///
/// Labels share the unit that suits the end of the range and have as many decimals as the step needs:
/// `250 µs`, `1.5 ms`, `12.0001 s`, `2:05`, `1:02:30`.
pub fn time_ticks(range: Span, min_step: f64) -> Vec<Tick> {
    let step = round_time(min_step.max(1.0));
    multiples(range, step).map(|value| Tick { value, label: time_label(value, range.end, step) }).collect()
}

const MILLISECOND: f64 = 1e3;
const SECOND: f64 = 1e6;
const MINUTE: f64 = 60.0 * SECOND;
const HOUR: f64 = 60.0 * MINUTE;

fn time_label(value: f64, largest: f64, step: f64) -> String {
    let plain = |unit: f64, name: &str| format!("{} {name}", decimal(value / unit, decimals_of(step / unit)));
    match largest {
        end if end < 2.0 * MILLISECOND => plain(1.0, "µs"),
        end if end < 2.0 * SECOND => plain(MILLISECOND, "ms"),
        end if end < 2.0 * MINUTE => plain(SECOND, "s"),
        _ => clock_label(value, decimals_of(step / SECOND)),
    }
}

/// Formats hours, minutes and seconds with colons: `2:05`, `1:02:30.5`.
fn clock_label(value: f64, decimals: usize) -> String {
    let (hours, rest) = ((value / HOUR).floor(), value % HOUR);
    let (minutes, seconds) = ((rest / MINUTE).floor(), rest % MINUTE / SECOND);
    let width = if decimals > 0 { decimals + 3 } else { 2 };
    if hours > 0.0 {
        format!("{hours}:{minutes:02}:{seconds:0width$.decimals$}")
    } else {
        format!("{minutes}:{seconds:0width$.decimals$}")
    }
}

fn round_decimal(at_least: f64) -> f64 {
    let power = 10f64.powf(at_least.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|&step| step >= at_least * 0.999_999).unwrap_or(power * 10.0)
}

fn round_time(at_least: f64) -> f64 {
    const FACTORS: [f64; 6] = [1.0, 2.0, 5.0, 10.0, 15.0, 30.0];
    if at_least <= SECOND / 2.0 {
        return round_decimal(at_least);
    }
    let short = [SECOND, MINUTE].into_iter().flat_map(|unit| FACTORS.map(|factor| factor * unit));
    let long = || round_decimal(at_least / HOUR) * HOUR;
    short.chain([HOUR, 2.0 * HOUR]).find(|&step| step >= at_least).unwrap_or_else(long)
}

/// Iterates over the multiples of a step within a range, both ends included.
///
/// Each is computed from its index, because adding up steps would add up errors.
fn multiples(range: Span, step: f64) -> impl Iterator<Item = f64> {
    let first = (range.start / step).ceil().max(0.0) as u64;
    let last = (range.end / step).floor();
    let count = if last < first as f64 { 0 } else { last as u64 - first + 1 };
    (first..first + count).map(move |index| index as f64 * step)
}

/// Returns the smallest number of decimals with which multiples of a step are exact, at most 9.
fn decimals_of(step: f64) -> usize {
    let is_exact = |decimals: &i32| {
        let scaled = step * 10f64.powi(*decimals);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1e-9)
    };
    (0..9).find(is_exact).unwrap_or(9) as usize
}

/// Formats a number with grouped digits and without trailing zeros.
fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let grouped = whole.parse().map_or_else(|_| whole.to_owned(), format::count);
    match fraction.trim_end_matches('0') {
        "" => grouped,
        fraction => format!("{grouped}.{fraction}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1024.0 * 1024.0;
    const GIB: f64 = 1024.0 * MIB;

    #[track_caller]
    fn check(ticks: Vec<Tick>, labels: &[&str]) {
        assert_eq!(ticks.iter().map(|tick| tick.label.as_str()).collect::<Vec<_>>(), labels);
    }

    #[test]
    fn bytes_are_round_in_binary() {
        check(byte_ticks(Span::new(0.0, 2.1 * GIB), 300.0 * MIB), &["0 GiB", "0.5 GiB", "1 GiB", "1.5 GiB", "2 GiB"]);
        check(byte_ticks(Span::new(0.0, 74.0 * GIB), 20.0 * GIB), &["0 GiB", "32 GiB", "64 GiB"]);
        check(byte_ticks(Span::new(0.0, 700.0 * MIB), 200.0 * MIB), &["0 MiB", "256 MiB", "512 MiB"]);
        check(byte_ticks(Span::new(0.0, 1200.0), 400.0), &["0 KiB", "0.5 KiB", "1 KiB"]);
        check(byte_ticks(Span::new(0.0, 1000.0), 400.0), &["0 B", "512 B"]);
    }

    #[test]
    fn labels_stay_exact_deep_in_a_large_trace() {
        let range = Span::new(12.0 * GIB, 12.0 * GIB + 3.0 * MIB);
        check(byte_ticks(range, MIB), &["12,288 MiB", "12,289 MiB", "12,290 MiB", "12,291 MiB"]);
    }

    #[test]
    fn counts_have_no_fractions() {
        check(count_ticks(Span::new(0.0, 3.0), 0.1), &["0", "1", "2", "3"]);
        check(count_ticks(Span::new(999_000.0, 1_003_000.0), 1500.0), &["1,000,000", "1,002,000"]);
    }

    #[test]
    fn times_take_the_unit_of_the_range() {
        check(time_ticks(Span::new(0.0, 900.0), 200.0), &["0 µs", "200 µs", "400 µs", "600 µs", "800 µs"]);
        check(time_ticks(Span::new(0.0, 2500.0), 900.0), &["0 ms", "1 ms", "2 ms"]);
        check(time_ticks(Span::new(12e6, 12e6 + 250.0), 100.0), &["12 s", "12.0001 s", "12.0002 s"]);
        check(time_ticks(Span::new(0.0, 200e6), 50e6), &["0:00", "1:00", "2:00", "3:00"]);
        check(
            time_ticks(Span::new(3700e6, 3702e6), 500e3),
            &["1:01:40.0", "1:01:40.5", "1:01:41.0", "1:01:41.5", "1:01:42.0"],
        );
        check(time_ticks(Span::new(0.0, 8.0 * HOUR), 3.0 * HOUR), &["0:00", "5:00:00"]);
    }

    #[test]
    fn steps_are_never_shorter_than_asked() {
        for exponent in 0..200 {
            let min_step = 1.17f64.powi(exponent);
            let range = Span::new(0.0, min_step * 20.0);
            for ticks in [byte_ticks(range, min_step), count_ticks(range, min_step), time_ticks(range, min_step)] {
                assert!(ticks.len() >= 2, "{min_step}");
                assert!(ticks.windows(2).all(|pair| pair[1].value - pair[0].value >= min_step * 0.999), "{min_step}");
                assert!(ticks.windows(2).all(|pair| pair[1].label != pair[0].label), "{min_step}: {ticks:?}");
            }
        }
    }
}
