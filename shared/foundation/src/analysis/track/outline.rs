//! Reduces the two curves of a timeline to few points, for a thumbnail.

use crate::analysis::track::timeline::Timeline;
use std::ops::Range;

/// Highest live and reserved bytes in each of several equal parts of a trace.
///
/// ```text
/// moments   0 1 2 3 4 5 6 7        three parts of eight moments:
/// bytes     1 3 2 5 6 7 4 4        0..2, 2..5 and 5..8
///           [3] [ 6 ] [ 7 ]
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    pub live_bytes: Vec<u64>,
    pub reserved_bytes: Vec<u64>,
}

impl Timeline {
    /// Returns the highest live and reserved bytes in each of `parts` equal parts.
    ///
    /// A trace with fewer moments has as many parts as moments.
    pub fn outline(&self, parts: u32) -> Outline {
        let parts = parts.min(self.events() + 1);
        let ranges = (0..parts).map(|part| self.part(part, parts));
        Outline {
            live_bytes: ranges.clone().map(|range| self.live_max_in(range).1).collect(),
            reserved_bytes: ranges.map(|range| self.reserved_max_in(range).1).collect(),
        }
    }

    fn part(&self, part: u32, parts: u32) -> Range<u32> {
        let moments = u64::from(self.events()) + 1;
        // The quotient is at most the number of moments, which fits into 32 bits.
        let bound = |part: u32| (moments * u64::from(part) / u64::from(parts)) as u32;
        bound(part)..bound(part + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive;
    use crate::trace::text;

    #[test]
    fn parts_cover_all_moments() {
        let (_, timeline) = naive::timed(text::parse("alloc a 10\nalloc b 20\nfree a\nalloc c 5").unwrap());
        assert_eq!(timeline.outline(3).live_bytes, [10, 30, 25]);
        assert_eq!(timeline.outline(100).live_bytes, [0, 10, 30, 30, 20, 25]);
        assert_eq!(timeline.outline(1).live_bytes, [30]);
        assert_eq!(timeline.outline(0), Outline::default());
    }
}
