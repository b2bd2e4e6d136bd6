//! Reads `--knob`, which names the batch of a script and its range.

use std::ops::RangeInclusive;
use std::str::FromStr;

/// The batch of a script, by an option of its command line or by a constant or variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Knob {
    /// `--batch-size`, or `BATCH`.
    pub(super) name: String,
    pub(super) values: RangeInclusive<u64>,
}

impl FromStr for Knob {
    type Err = String;

    /// Reads `--batch-size 1..64`, `BATCH=1..64`, or either with `{}` before the range.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected '--batch-size 1..64' or 'BATCH=1..64', not {text:?}");
        let (name, range) = text.trim().rsplit_once([' ', '=']).ok_or_else(wrong)?;
        let name = name.trim().trim_end_matches("{}").trim_end_matches([' ', '=']);
        let (least, most) = range.split_once("..").ok_or_else(wrong)?;
        let number = |text: &str| text.trim_start_matches('=').parse::<u64>().map_err(|_| wrong());
        let values = number(least)?..=number(most)?;
        if name.is_empty() || name.contains(' ') || *values.start() == 0 || values.is_empty() {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_are_read_as_they_are_typed() {
        let knob = |name: &str| Ok(Knob { name: name.to_owned(), values: 1..=64 });
        assert_eq!("--batch-size 1..64".parse(), knob("--batch-size"));
        assert_eq!("--batch-size {} 1..64".parse(), knob("--batch-size"));
        assert_eq!("--batch-size=1..64".parse(), knob("--batch-size"));
        assert_eq!("BATCH=1..64".parse(), knob("BATCH"));
        assert_eq!("BATCH={} 1..64".parse(), knob("BATCH"));
        for text in ["", "64", "BATCH", "BATCH=0..4", "BATCH=4..1", "BATCH=1-4", "a b 1..2"] {
            assert!(text.parse::<Knob>().is_err(), "{text}");
        }
    }
}
