//! Which rows of a long table are on the screen.
//!
//! A million rows are no million elements: only those on the screen are in the page, in a block that stays where it is
//! while a spacer below it is scrolled. Browsers limit how high an element may be, so that the spacer of a long table is
//! shorter than its rows would be, and a pixel of it is more than a pixel of them.

/// The height of a row in CSS pixels; the styles have the same.
pub const ROW_PX: f64 = 28.0;

/// The highest spacer: Firefox stops at 17 million pixels, Chromium at 33 million.
const MOST_PX: f64 = 10_000_000.0;

/// Rows that are asked for come in steps of so many, so that not every scroll is a question.
const STEP: u32 = 64;

/// A table and the part of the screen that it has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scrolling {
    /// How many rows there are.
    pub row_count: u32,
    /// The height for rows, in CSS pixels.
    pub room_px: f64,
}

impl Scrolling {
    /// How many rows are on the screen as a whole, at least one.
    pub fn visible(&self) -> u32 {
        ((self.room_px / ROW_PX) as u32).max(1)
    }

    /// The height of the spacer, in CSS pixels.
    pub fn spacer_px(&self) -> f64 {
        (f64::from(self.last_first()) * ROW_PX).min(MOST_PX)
    }

    /// The first row on the screen, where the spacer is scrolled by so many CSS pixels.
    pub fn first(&self, scrolled_px: f64) -> u32 {
        let share = (scrolled_px / self.spacer_px().max(1.0)).clamp(0.0, 1.0);
        (share * f64::from(self.last_first())).round() as u32
    }

    /// How far the spacer has to be scrolled for a row to be the first one on the screen.
    pub fn scrolled_px(&self, first: u32) -> f64 {
        let share = f64::from(first.min(self.last_first())) / f64::from(self.last_first().max(1));
        share * self.spacer_px()
    }

    /// The first row on the screen that shows `row` with the least scrolling from `first`.
    pub fn first_with(&self, row: u32, first: u32) -> u32 {
        row.saturating_sub(self.visible() - 1).max(first.min(row))
    }

    /// The rows to ask for around those on the screen: the first one, and how many.
    pub fn wanted(&self, first: u32) -> (u32, u32) {
        let start = first.saturating_sub(STEP / 2) / STEP * STEP;
        let end = (first + self.visible() + STEP / 2).div_ceil(STEP) * STEP;
        (start, end - start)
    }

    fn last_first(&self) -> u32 {
        self.row_count.saturating_sub(self.visible())
    }
}

/// The row that a key goes to, if it is one of those that move in a table.
pub fn row_after(key: &str, row: Option<u32>, scrolling: &Scrolling) -> Option<u32> {
    let last = scrolling.row_count.checked_sub(1)?;
    let page = scrolling.visible().saturating_sub(1).max(1);
    Some(match (key, row) {
        ("Home", _) | ("ArrowDown" | "PageDown", None) => 0,
        ("End", _) | ("ArrowUp" | "PageUp", None) => last,
        ("ArrowDown", Some(row)) => (row + 1).min(last),
        ("ArrowUp", Some(row)) => row.saturating_sub(1),
        ("PageDown", Some(row)) => row.saturating_add(page).min(last),
        ("PageUp", Some(row)) => row.saturating_sub(page),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(row_count: u32) -> Scrolling {
        Scrolling { row_count, room_px: 10.5 * ROW_PX }
    }

    #[test]
    fn every_row_can_be_scrolled_to() {
        for row_count in [1, 9, 10, 11, 1000, 50_000_000] {
            let table = table(row_count);
            for first in [0, 1, 7, row_count / 2, row_count.saturating_sub(10)] {
                let first = first.min(row_count.saturating_sub(10));
                assert_eq!(table.first(table.scrolled_px(first)), first, "{first} of {row_count}");
            }
            assert_eq!(table.first(1e12), row_count.saturating_sub(10));
        }
    }

    #[test]
    fn a_long_table_has_a_short_spacer() {
        assert_eq!(table(110).spacer_px(), 100.0 * ROW_PX);
        assert_eq!(table(50_000_000).spacer_px(), MOST_PX);
        assert_eq!(table(3).spacer_px(), 0.0);
    }

    #[test]
    fn the_rows_on_the_screen_are_asked_for() {
        for first in [0, 31, 32, 33, 64, 1000, 99_999] {
            let (start, count) = table(1_000_000).wanted(first);
            assert!(start <= first && first + 11 <= start + count, "{first}: {count} from {start}");
            assert!(start % STEP == 0 && count <= 3 * STEP);
        }
        assert_eq!(table(5).wanted(0), table(5).wanted(1), "a small scroll asks nothing new");
    }

    #[test]
    fn scrolling_to_a_row_is_as_short_as_it_can_be() {
        let table = table(100);
        assert_eq!(table.first_with(5, 0), 0);
        assert_eq!(table.first_with(10, 0), 1);
        assert_eq!(table.first_with(3, 8), 3);
    }

    #[test]
    fn keys_move_within_the_table() {
        let table = table(100);
        let after = |key, row| row_after(key, row, &table);
        assert_eq!([after("ArrowDown", None), after("ArrowDown", Some(99))], [Some(0), Some(99)]);
        assert_eq!([after("PageDown", Some(0)), after("PageUp", Some(4))], [Some(9), Some(0)]);
        assert_eq!([after("End", None), after("Home", Some(9)), after("x", None)], [Some(99), Some(0), None]);
        assert_eq!(row_after("End", None, &Scrolling::default()), None);
    }
}
