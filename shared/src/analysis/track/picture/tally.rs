//! Chooses the colour of a group, and measures the share of selected allocations in it.

/// Area of each colour in a growing group, in bytes times moments.
///
/// By bytes alone, members that die at once would weigh as much as those that live long, and panning past them would
/// change the colour.
#[derive(Debug, Default)]
pub(super) struct Tally {
    own: Vec<(u32, u128)>,
    others: Vec<(u32, u128)>,
}

/// Colour of a group, and the share of its area that selected allocations cover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tint {
    pub(super) color: u32,
    /// In `0.0..=1.0`; 1 if nothing is selected.
    pub(super) own_share: f32,
}

impl Tint {
    /// Colour of a rung that is not yet known.
    pub(super) const UNKNOWN: Self = Self { color: 0, own_share: 1.0 };

    /// Returns the colour of a single allocation.
    pub(super) fn single(color: u32, is_own: bool) -> Self {
        Self { color, own_share: if is_own { 1.0 } else { 0.0 } }
    }
}

impl Tally {
    /// Adds an allocation; `is_own` is false for one that is not selected while others are.
    pub(super) fn add(&mut self, color: u32, area: u128, is_own: bool) {
        let areas = if is_own { &mut self.own } else { &mut self.others };
        match areas.last_mut() {
            Some((last, sum)) if *last == color => *sum += area,
            _ => areas.push((color, area)),
        }
    }

    /// Returns the colour with the largest area among the selected allocations, or else among the others, and clears
    /// the tally.
    ///
    /// It is 0 without allocations.
    /// Of colours with equal areas, the one with the smallest number is returned.
    pub(super) fn take(&mut self) -> Tint {
        let (own, others) = (most(&mut self.own), most(&mut self.others));
        match (own, others) {
            (Some((color, _)), None) => Tint { color, own_share: 1.0 },
            (Some((color, own)), Some((_, others))) => {
                Tint { color, own_share: (own as f64 / (own as f64 + others as f64).max(1.0)) as f32 }
            }
            (None, Some((color, _))) => Tint { color, own_share: 0.0 },
            (None, None) => Tint::UNKNOWN,
        }
    }
}

/// Returns the colour with the largest area, and the sum of all areas; clears the list.
fn most(areas: &mut Vec<(u32, u128)>) -> Option<(u32, u128)> {
    areas.sort_unstable_by_key(|&(color, _)| color);
    let (mut most, mut sum) = (None, 0_u128);
    for colors in areas.chunk_by(|a, b| a.0 == b.0) {
        let area = colors.iter().map(|&(_, area)| area).sum::<u128>();
        sum += area;
        if most.is_none_or(|(_, other)| area > other) {
            most = Some((colors[0].0, area));
        }
    }
    areas.clear();
    most.map(|(color, _)| (color, sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_color_of_the_largest_area_wins() {
        let mut tally = Tally::default();
        assert_eq!(tally.take(), Tint::UNKNOWN);
        for (color, area) in [(7, 2), (3, 3), (7, 2), (3, 0), (9, 1)] {
            tally.add(color, area, true);
        }
        assert_eq!(tally.take(), Tint { color: 7, own_share: 1.0 });
        [(8, 1), (2, 1)].into_iter().for_each(|(color, area)| tally.add(color, area, true));
        assert_eq!(tally.take().color, 2);
    }

    #[test]
    fn selected_allocations_give_the_color() {
        let mut tally = Tally::default();
        [(7, 30), (5, 6)].into_iter().for_each(|(color, area)| tally.add(color, area, false));
        tally.add(4, 12, true);
        assert_eq!(tally.take(), Tint { color: 4, own_share: 0.25 });
        tally.add(7, 1, false);
        assert_eq!(tally.take(), Tint { color: 7, own_share: 0.0 });
    }
}
