//! Computes the byte axis of a chart.

use std::ops::Range;

/// Maps byte sizes to vertical positions.
pub(crate) struct ByteAxis {
    most_bytes: u64,
    unit: (u64, &'static str),
    /// Distance between two ticks, in bytes.
    step_bytes: u64,
    down: Range<f64>,
}

impl ByteAxis {
    /// Makes an axis from 0 to `most_bytes`, or to 1 KiB if that is less.
    pub(crate) fn new(most_bytes: u64, down: Range<f64>) -> Self {
        const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        const MOST_STEPS: u64 = 6;
        let most_bytes = most_bytes.max(1024);
        // A unit is used from twice its size upwards, so that the steps are round in it.
        let unit = UNITS.into_iter().find(|(size, _)| most_bytes >= 2 * size).unwrap_or(UNITS[3]);
        let steps = (0..4).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power) * unit.0));
        let step_bytes = { steps }.find(|step| most_bytes / step < MOST_STEPS).unwrap_or(most_bytes);
        Self { most_bytes, unit, step_bytes, down }
    }

    /// Returns the size at the top of the axis.
    pub(crate) const fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    /// Returns the vertical position of a size.
    pub(crate) fn at(&self, size_bytes: u64) -> f64 {
        let share = size_bytes as f64 / self.most_bytes as f64;
        self.down.end - share * (self.down.end - self.down.start)
    }

    /// Returns the labelled sizes and their positions.
    pub(crate) fn ticks(&self) -> impl Iterator<Item = (u64, f64)> {
        (0..=self.most_bytes / self.step_bytes).map(|step| (step * self.step_bytes, self.at(step * self.step_bytes)))
    }

    /// Formats a tick as in `20 GiB`; the steps are whole multiples of the unit.
    pub(crate) fn label(&self, size_bytes: u64) -> String {
        let (size, name) = self.unit;
        if size_bytes == 0 { "0".to_owned() } else { format!("{} {name}", size_bytes / size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(most_bytes: u64, expected: &[&str]) {
        let y = ByteAxis::new(most_bytes, 0.0..100.0);
        let labels: Vec<_> = y.ticks().map(|(size_bytes, _)| y.label(size_bytes)).collect();
        assert_eq!(labels, expected);
    }

    #[test]
    fn sizes_have_round_ticks() {
        check(0, &["0", "1 KiB"]);
        check(15 << 30, &["0", "5 GiB", "10 GiB", "15 GiB"]);
        check(80 << 30, &["0", "20 GiB", "40 GiB", "60 GiB", "80 GiB"]);
        check(1 << 30, &["0", "200 MiB", "400 MiB", "600 MiB", "800 MiB", "1000 MiB"]);
        check(3 << 40, &["0", "1 TiB", "2 TiB", "3 TiB"]);
    }
}
