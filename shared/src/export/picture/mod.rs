//! Draws still pictures: timelines, flame graphs and maps of segments.
//!
//! A timeline has bands, curves, spans, axes and a legend; the other two show one moment.
//!
//! A picture is laid out once and drawn in each theme, with the operations of `draw`.

mod flame;
mod frame;
mod plot;
mod segments;
mod tone;

pub use flame::flame_picture;
pub use frame::{MomentOptions, PictureOptions};
pub use plot::TimelinePicture;
pub use segments::segments_picture;

use crate::base::Moment;

/// Minimum width and height in pixels.
const LEAST_PX: u32 = 240;

/// Maximum height in pixels of a picture without a requested height.
const MOST_PX: u32 = 4000;

fn when(moment: u32, peak: u32) -> String {
    let after = Moment(moment);
    if moment == peak { format!("at the peak, {after},") } else { after.to_string() }
}

#[cfg(test)]
mod tests;
