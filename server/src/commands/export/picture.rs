//! Draws the picture that the options of `snapscope export` ask for.

use clap::{Args, ValueEnum};
use shared::analysis::{Axis, Timeline};
use shared::draw::sketch::Sketch;
use shared::draw::span::Span;
use shared::draw::theme::Theme;
use shared::export::{self, MomentOptions, PictureOptions, TimelinePicture};
use shared::trace::{Device, Trace};

use crate::Failure;
use crate::commands::names::names;
use shared::base::Moment;

/// The options of pictures.
#[derive(Debug, Clone, Args)]
// Otherwise clap shows the doc comment above as the description of the command.
#[command(about = None, long_about = None)]
pub(super) struct PictureArgs {
    /// Content of a picture [default: timeline]
    #[arg(long, value_enum)]
    pub(super) picture: Option<PictureName>,

    /// Horizontal axis of a timeline [default: events]
    #[arg(long, value_parser = names(Axis::ALL, Axis::name, axis_meaning))]
    pub(super) axis: Option<Axis>,

    /// The first event of a timeline
    #[arg(long, value_name = "EVENT")]
    pub(super) first: Option<u32>,

    /// The last event of a timeline
    #[arg(long, value_name = "EVENT")]
    pub(super) last: Option<u32>,

    /// The width of a picture in pixels [default: 1200]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(240..=8000))]
    pub(super) width: Option<u32>,

    /// The height of a picture in pixels [default: 600 for a timeline, else as needed]
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(240..=8000))]
    pub(super) height: Option<u32>,

    /// Draw a picture with a dark background
    #[arg(long)]
    pub(super) dark: bool,
}

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

fn axis_meaning(axis: Axis) -> &'static str {
    match axis {
        Axis::Events => "Events, evenly spaced",
        Axis::Time => "Wall-clock time",
    }
}

impl PictureArgs {
    /// Returns the chosen kind of picture, by default a timeline.
    pub(super) fn shows(&self) -> PictureName {
        self.picture.unwrap_or(PictureName::Timeline)
    }

    /// Draws the picture of a device of a file and returns it with its title; `moment` is the one of `--at`.
    pub(super) fn drawn(
        &self,
        file: &str,
        trace: &Trace,
        (device, timeline): (&Device, &Timeline),
        moment: Option<u32>,
    ) -> Result<(String, Sketch), Failure> {
        let theme = if self.dark { Theme::dark() } else { Theme::light() };
        let shows = self.shows();
        let kind = match shows {
            PictureName::Timeline => "",
            PictureName::Flame => " · live memory by stack",
            PictureName::Segments => " · segments",
        };
        let title = format!("{file} · GPU {}{kind}", device.index);
        let width = self.width.unwrap_or(1200);
        let of_moment = MomentOptions { title: title.clone(), moment, width, height: self.height };
        let sketch = match shows {
            PictureName::Flame => export::flame_picture(trace, (device, timeline), &of_moment, &theme),
            PictureName::Segments => export::segments_picture(trace, (device, timeline), &of_moment, &theme),
            PictureName::Timeline => {
                let (axis, x) = self.part(device, timeline)?;
                let (title, height) = (title.clone(), self.height.unwrap_or(600));
                let options = PictureOptions { title, axis, x, width, height, ..PictureOptions::default() };
                TimelinePicture::new(trace, device, timeline, &options).sketch(&theme)
            }
        };
        Ok((title, sketch))
    }

    /// Returns the axis of a timeline and the part of it to show; `None` stands for all of it.
    fn part(&self, device: &Device, timeline: &Timeline) -> Result<(Axis, Option<Span>), Failure> {
        let axis = self.axis.unwrap_or(Axis::Events);
        let events = timeline.events();
        let (first, last) = (self.first.unwrap_or(0), self.last.unwrap_or(events.saturating_sub(1)));
        let is_part = self.first.is_some() || self.last.is_some();
        if is_part && (first > last || last >= events) {
            return Err(Failure::new(
                format!("there is no range from event {first} to event {last} on device {}", device.index),
                format!("events go from 0 to {}", Moment(events).event_number()),
            ));
        }
        // The part includes the state before its first event, because that event changes it.
        let place = |moment| timeline.x_of_moment(device, axis, moment);
        Ok((axis, is_part.then(|| Span::new(place(first), place(last + 2)))))
    }
}
