//! Chooses the colour of a group.

/// Area of each colour in a growing group, in bytes times moments.
///
/// By bytes alone, members that die at once would weigh as much as those that live long, and panning past them would
/// change the colour.
#[derive(Debug, Default)]
pub(super) struct Tally(Vec<(u32, u128)>);

impl Tally {
    /// Adds a member.
    pub(super) fn add(&mut self, color: u32, area: u128) {
        match self.0.last_mut() {
            Some((last, sum)) if *last == color => *sum += area,
            _ => self.0.push((color, area)),
        }
    }

    /// Returns the colour with the largest area, 0 without members, and clears the tally.
    ///
    /// Of colours with equal areas, the one with the smallest number is returned.
    pub(super) fn take(&mut self) -> u32 {
        self.0.sort_unstable_by_key(|&(color, _)| color);
        let mut most = (0, 0);
        for colors in self.0.chunk_by(|a, b| a.0 == b.0) {
            let area = colors.iter().map(|&(_, area)| area).sum::<u128>();
            if most.0 == 0 || area > most.1 {
                most = (colors[0].0, area);
            }
        }
        self.0.clear();
        most.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_color_of_the_largest_area_wins() {
        let mut tally = Tally::default();
        assert_eq!(tally.take(), 0);
        for (color, area) in [(7, 2), (3, 3), (7, 2), (3, 0), (9, 1)] {
            tally.add(color, area);
        }
        assert_eq!(tally.take(), 7);
        [(8, 1), (2, 1)].into_iter().for_each(|(color, area)| tally.add(color, area));
        assert_eq!(tally.take(), 2);
    }
}
