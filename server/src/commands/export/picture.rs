//! Draws the picture that the options of `snapscope export` ask for.

use clap::ValueEnum;
use shared::analysis::{Axis, Timeline};
use shared::draw::span::Span;
use shared::export::{self, Drawing, MomentOptions, PictureOptions};
use shared::trace::{Device, Trace};

use super::ExportArgs;
use crate::Failure;

/// Values of `--picture`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PictureName {
    /// Live and reserved memory over the recording
    Timeline,
    /// Live memory at the peak, by call stack
    Flame,
    /// Segments and their blocks at the peak of reserved memory
    Segments,
}

/// Values of `--axis`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum AxisName {
    /// Events, evenly spaced
    Events,
    /// Wall-clock time
    Time,
}

impl ExportArgs {
    /// Returns the chosen kind of picture, by default a timeline.
    pub(super) fn shows(&self) -> PictureName {
        self.picture.unwrap_or(PictureName::Timeline)
    }

    /// Draws the picture of a device; `moment` is the one of `--at`.
    ///
    /// # Errors
    ///
    /// Returns an error if the timeline of the device does not have the requested part.
    pub(super) fn drawing(
        &self,
        trace: &Trace,
        device: &Device,
        timeline: &Timeline,
        moment: Option<u32>,
    ) -> Result<Drawing, Failure> {
        let title = format!("{} · GPU {}", self.name(), device.index);
        let width = self.width.unwrap_or(1200);
        let of_moment = |title| MomentOptions { title, moment, width, height: self.height };
        Ok(match self.shows() {
            PictureName::Flame => export::flame_picture(trace, device, timeline, &of_moment(title)),
            PictureName::Segments => export::segments_picture(trace, device, timeline, &of_moment(title)),
            PictureName::Timeline => {
                let (axis, x) = self.part(device, timeline)?;
                let height = self.height.unwrap_or(600);
                let options = PictureOptions { title, axis, x, width, height, ..PictureOptions::default() };
                export::timeline_picture(trace, device, timeline, &options)
            }
        })
    }

    /// Returns the axis of a timeline and the part of it to show; `None` stands for all of it.
    fn part(&self, device: &Device, timeline: &Timeline) -> Result<(Axis, Option<Span>), Failure> {
        let axis = match self.axis {
            Some(AxisName::Time) => Axis::Time,
            Some(AxisName::Events) | None => Axis::Events,
        };
        let events = timeline.events();
        let (first, last) = (self.first.unwrap_or(0), self.last.unwrap_or(events.saturating_sub(1)));
        let is_part = self.first.is_some() || self.last.is_some();
        if is_part && (first > last || last >= events) {
            return Err(Failure::new(
                format!("there is no range from event {first} to event {last} on device {}", device.index),
                format!("events go from 0 to {}", i64::from(events) - 1),
            ));
        }
        // The part includes the state before its first event, because that event changes it.
        let place = |moment| timeline.x_of_moment(device, axis, moment);
        Ok((axis, is_part.then(|| Span::new(place(first), place(last + 2)))))
    }
}
