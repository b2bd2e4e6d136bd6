//! Limits of growth between two commits.

use std::str::FromStr;

use shared::base::format::bytes;

use crate::units;

/// Growth that is still allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MostGrowth {
    /// Percent of the base.
    Percent(f64),
    Bytes(u64),
}

impl MostGrowth {
    /// Returns the allowed growth in bytes.
    pub(super) fn of(self, base_bytes: u64) -> u64 {
        match self {
            Self::Percent(percent) => (base_bytes as f64 * percent / 100.0) as u64,
            Self::Bytes(most) => most,
        }
    }
}

impl std::fmt::Display for MostGrowth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Percent(percent) => write!(f, "{percent} %"),
            Self::Bytes(most) => f.write_str(&bytes(*most)),
        }
    }
}

impl FromStr for MostGrowth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is neither a share nor a size; use for example 1% or 100MiB");
        match text.trim().strip_suffix('%') {
            Some(number) => {
                let percent: f64 = number.trim().parse().map_err(|_| wrong())?;
                (percent.is_finite() && percent >= 0.0).then_some(Self::Percent(percent)).ok_or_else(wrong)
            }
            None => units::size(text).map(Self::Bytes).map_err(|_| wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_a_share_or_a_size() {
        assert_eq!("1%".parse(), Ok(MostGrowth::Percent(1.0)));
        assert_eq!("2.5 %".parse(), Ok(MostGrowth::Percent(2.5)));
        assert_eq!("100MiB".parse(), Ok(MostGrowth::Bytes(100 << 20)));
        for wrong in ["", "1", "-1%", "%", "inf%"] {
            assert!(wrong.parse::<MostGrowth>().unwrap_err().contains("100MiB"), "{wrong}");
        }
        assert_eq!((MostGrowth::Percent(1.0).of(1000), MostGrowth::Bytes(5).of(1000)), (10, 5));
    }
}
