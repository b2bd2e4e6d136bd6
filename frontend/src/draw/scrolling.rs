//! Determines which rows of a long table are on the screen.
//!
//! Only the rows on the screen are elements of the document. They are in a block that stays in place while a spacer
//! below it is scrolled. Browsers limit the height of an element, so the spacer of a long table is lower than its rows
//! would be, and one pixel of the spacer stands for several pixels of rows.

/// Height of a row in CSS pixels; must match the style sheet.
pub const ROW_PX: f64 = 28.0;

/// Maximum height of the spacer in CSS pixels; Firefox stops at 17 million pixels, Chromium at 33 million.
const MOST_PX: f64 = 10_000_000.0;

/// Rows are requested in multiples of this number, so that not every scroll sends a request.
const STEP: u32 = 64;

/// A table and its room on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scrolling {
    pub row_count: u32,
    /// Height available for rows, in CSS pixels.
    pub room_px: f64,
}

impl Scrolling {
    /// Returns the number of rows that fit on the screen completely, at least one.
    pub fn visible(&self) -> u32 {
        ((self.room_px / ROW_PX) as u32).max(1)
    }

    /// Returns the height of the spacer, in CSS pixels.
    pub fn spacer_px(&self) -> f64 {
        (f64::from(self.last_first()) * ROW_PX).min(MOST_PX)
    }

    /// Returns the first row on the screen when the spacer is scrolled by a number of CSS pixels.
    pub fn first(&self, scrolled_px: f64) -> u32 {
        let share = (scrolled_px / self.spacer_px().max(1.0)).clamp(0.0, 1.0);
        (share * f64::from(self.last_first())).round() as u32
    }

    /// Returns the CSS pixels by which the spacer must be scrolled for a row to be the first one on the screen.
    pub fn scrolled_px(&self, first: u32) -> f64 {
        let share = f64::from(first.min(self.last_first())) / f64::from(self.last_first().max(1));
        share * self.spacer_px()
    }

    /// Returns the first row on the screen that shows `row` with the least scrolling from `first`.
    pub fn first_with(&self, row: u32, first: u32) -> u32 {
        row.saturating_sub(self.visible() - 1).max(first.min(row))
    }

    /// Returns the rows to request around those on the screen, as the first row and the number of rows.
    pub fn wanted(&self, first: u32) -> (u32, u32) {
        let start = first.saturating_sub(STEP / 2) / STEP * STEP;
        let end = (first + self.visible() + STEP / 2).div_ceil(STEP) * STEP;
        (start, end - start)
    }

    fn last_first(&self) -> u32 {
        self.row_count.saturating_sub(self.visible())
    }
}

/// Returns the row that a key moves to, or `None` for keys that do not move in a table.
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
