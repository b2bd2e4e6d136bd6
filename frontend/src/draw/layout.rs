//! Arrangement of the timeline's parts in its element.

use super::camera::PlotSize;
use super::rect::Rect;

/// Height of one row of spans including its gap, in CSS pixels.
pub const LANE_ROW: f64 = 18.0;

/// Maximum number of rows of spans, including steps and phases.
pub const LANE_ROWS: usize = 4;

/// Height of the x axis with its labels, in CSS pixels.
const X_AXIS: f64 = 24.0;

/// Room above the plot for a label at its top edge, in CSS pixels.
const TOP: f64 = 6.0;

/// Width of the element below which the margins for labels are smaller, in CSS pixels.
const NARROW: f64 = 560.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Layout {
    pub outer: Rect,
    /// Rows of spans above the plot; has no height if there are none.
    pub lane: Rect,
    pub plot: Rect,
    /// Number of device pixels per CSS pixel.
    pub pixel_ratio: f64,
}

impl Layout {
    /// Divides an element of this size, in CSS pixels.
    pub fn new(width: f64, height: f64, pixel_ratio: f64, lane_rows: usize) -> Self {
        let is_narrow = width < NARROW;
        let (left, right) = if is_narrow { (54.0, 6.0) } else { (74.0, 12.0) };
        let lane_height = lane_rows.min(LANE_ROWS) as f64 * LANE_ROW;
        let lane_gap = if lane_rows > 0 { 4.0 } else { 0.0 };
        let plot_width = (width - left - right).max(1.0);
        let lane = Rect { x: left, y: TOP, width: plot_width, height: lane_height };
        let top = lane.bottom() + lane_gap;
        Self {
            outer: Rect { x: 0.0, y: 0.0, width, height },
            lane,
            plot: Rect { x: left, y: top, width: plot_width, height: (height - top - X_AXIS).max(1.0) },
            pixel_ratio,
        }
    }

    pub fn plot_size(&self) -> PlotSize {
        PlotSize { width: self.plot.width, height: self.plot.height, pixel_ratio: self.pixel_ratio }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_overlap_and_stay_inside() {
        for (width, height, rows) in [(1600.0, 700.0, 3), (390.0, 300.0, 0), (390.0, 300.0, 9)] {
            let layout = Layout::new(width, height, 1.0, rows);
            assert!(layout.lane.bottom() <= layout.plot.y);
            assert!(layout.plot.right() <= width && layout.plot.bottom() < height);
        }
    }

    #[test]
    fn nothing_is_ever_without_size() {
        let layout = Layout::new(0.0, 0.0, 2.0, 3);
        assert!(layout.plot.width >= 1.0 && layout.plot.height >= 1.0);
    }
}
