//! The colour of a group.

/// The bytes of each colour of a group that is still growing.
#[derive(Debug, Default)]
pub(super) struct Tally(Vec<(u32, u64)>);

impl Tally {
    /// Counts a member.
    pub(super) fn add(&mut self, color: u32, size_bytes: u64) {
        match self.0.last_mut() {
            Some((last, bytes)) if *last == color => *bytes += size_bytes,
            _ => self.0.push((color, size_bytes)),
        }
    }

    /// The colour that most bytes have, the smallest number of several, and begins anew; 0 without members.
    pub(super) fn take(&mut self) -> u32 {
        self.0.sort_unstable_by_key(|&(color, _)| color);
        let mut most = (0, 0);
        for colors in self.0.chunk_by(|a, b| a.0 == b.0) {
            let bytes = colors.iter().map(|&(_, bytes)| bytes).sum::<u64>();
            if most.0 == 0 || bytes > most.1 {
                most = (colors[0].0, bytes);
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
    fn the_color_with_most_bytes_wins() {
        let mut tally = Tally::default();
        assert_eq!(tally.take(), 0);
        for (color, size_bytes) in [(7, 2), (3, 3), (7, 2), (3, 0), (9, 1)] {
            tally.add(color, size_bytes);
        }
        assert_eq!(tally.take(), 7);
        [(8, 1), (2, 1)].into_iter().for_each(|(color, size_bytes)| tally.add(color, size_bytes));
        assert_eq!(tally.take(), 2);
    }
}
