//! Parses times and sizes of command line options.

use std::time::Duration;

use shared::base::size;
use shared::job::Card;

/// Parses a time such as `90s`, `30min`, `2h` or `30d`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 6] =
        [("min", 60.0), ("ms", 0.001), ("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
    let wrong = || format!("`{text}` is not a time; use for example 90s, 30min or 2h");
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| text.trim().strip_suffix(name).map(|number| (number.trim_end(), unit)))
        .ok_or_else(wrong)?;
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * unit).map_err(|_| wrong())
}

/// Parses a size such as `512MiB` or `8GiB` into bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    size::parse(text).ok_or_else(|| format!("`{text}` is not a size; use for example 512MiB or 8GiB"))
}

/// Parses a card's memory into bytes, from a size or from the name of the card.
pub(crate) fn capacity(text: &str) -> Result<u64, String> {
    size(text).or_else(|_| Card::named(text).map(|card| card.memory_bytes).map_err(|error| error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_a_unit() {
        for (text, seconds) in
            [("90s", 90.0), ("1.5 min", 90.0), ("2h", 7200.0), ("3m", 180.0), ("30d", 2_592_000.0), ("250ms", 0.25)]
        {
            assert_eq!(time(text), Ok(Duration::from_secs_f64(seconds)));
        }
        for wrong in ["", "90", "s", "-1s", "NaN s", "1e300h", "soon"] {
            assert!(time(wrong).unwrap_err().contains("30min"), "{wrong}");
        }
        assert_eq!(size("8GiB"), Ok(8 << 30));
        assert!(size("8").unwrap_err().contains("8GiB"));
    }
}
