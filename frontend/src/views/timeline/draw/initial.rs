//! Label on the bands of memory from before the trace.

use super::places::Places;
use crate::ask::raster::{Band, bands};
use crate::ask::{PictureData, View as Asked, raster};
use crate::draw::{Align, Camera, Font, Layout, Op, Span, Theme, View};

/// Minimum height of a band with a label, in CSS pixels.
const MIN_HEIGHT: f64 = 18.0;

/// Padding on each side of the label, in CSS pixels.
const PADDING: f64 = 10.0;

/// Rectangles of a picture for memory from before the trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialBands {
    all: Vec<Band>,
}

impl InitialBands {
    pub fn of(picture: &PictureData) -> Self {
        Self { all: bands(&picture.bands).take_while(|band| band.owner == raster::INITIAL).collect() }
    }

    /// Returns the label on the longest visible stretch, if it fits there.
    ///
    /// It is placed at the left end, or at the right end if that place is taken.
    ///
    /// Neighbouring bands form one stretch; the label is low enough to lie on all of them.
    pub fn label(
        &self,
        asked: &Asked,
        text: &str,
        camera: &Camera,
        layout: &Layout,
        theme: &Theme,
        places: &mut Places,
    ) -> Option<Op> {
        let View { x, y } = self.stretches(asked, camera, layout).max_by(|a, b| a.x.len().total_cmp(&b.x.len()))?;
        let fits = x.len() >= Font::STRONG.width(text) + 2.0 * PADDING;
        let ends = [(x.start + PADDING, Align::Left), (x.end - PADDING, Align::Right)];
        places.take_text(ends.into_iter().filter(|_| fits).map(|(x, align)| Op::Text {
            x,
            y: y.center(),
            text: text.to_owned(),
            align,
            font: Font::STRONG,
            color: theme.text,
            halo: Some(theme.initial),
        }))
    }

    /// Returns runs of neighbouring bands that are high enough, in CSS pixels of the element.
    fn stretches(&self, asked: &Asked, camera: &Camera, layout: &Layout) -> impl Iterator<Item = View> {
        let plot = layout.plot;
        let x_of = |share: f32| {
            plot.x + camera.x_from_position(Span::new(asked.request.x0, asked.request.x1).at(share.into()))
        };
        let y_of =
            |share: f32| plot.y + camera.y_from_bytes(Span::new(asked.request.y0, asked.request.y1).at(share.into()));
        let (across, down) = (Span::new(plot.x, plot.right()), Span::new(plot.y, plot.bottom()));
        let mut runs: Vec<View> = Vec::new();
        for band in &self.all {
            let x = Span::new(x_of(band.x0), x_of(band.x1)).intersection(across);
            let y = Span::new(y_of(band.y1), y_of(band.y0)).intersection(down);
            if x.is_empty() || y.len() < MIN_HEIGHT {
                continue;
            }
            match runs.last_mut() {
                Some(run) if (run.x.end - x.start).abs() < 0.5 && run.y.intersection(y).len() >= MIN_HEIGHT => {
                    *run = View { x: Span::new(run.x.start, x.end), y: run.y.intersection(y) };
                }
                _ => runs.push(View { x, y }),
            }
        }
        runs.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Axis;
    use crate::draw::Content;
    use crate::views::timeline::draw::stage::asked;

    fn stage() -> (Camera, Layout, Asked) {
        let layout = Layout::new(1086.0, 524.0, 1.0, 0);
        let content = Content { x_end: 1000.0, min_len: 2.0, max_bytes: 1e9 };
        let camera = Camera::new(content, layout.plot_size());
        (camera, layout, asked(Axis::Events, camera.view()))
    }

    fn band(x0: f32, x1: f32, y1: f32) -> Band {
        Band { x0, x1, y0: 0.0, y1, owner: raster::INITIAL, color: 0 }
    }

    #[track_caller]
    fn check(all: Vec<Band>, x: Option<f64>) {
        let (camera, layout, asked) = stage();
        let (bands, mut places) = (InitialBands { all }, Places::new(layout.plot));
        let label = bands.label(&asked, "2 GiB from before", &camera, &layout, &Theme::light(), &mut places);
        let found = label.map(|op| match op {
            Op::Text { x, .. } => x.round(),
            other => panic!("{other:?} is no text"),
        });
        assert_eq!(found, x);
    }

    #[test]
    fn the_label_is_on_the_longest_stretch_that_has_room() {
        check(vec![band(0.0, 0.2, 0.5), band(0.3, 0.9, 0.5)], Some(74.0 + 300.0 + PADDING));
        check(vec![band(0.0, 0.1, 0.5), band(0.1, 0.2, 0.4), band(0.2, 0.3, 0.3)], Some(74.0 + PADDING));
        check(vec![band(0.0, 1.0, 0.02)], None);
        check(vec![band(0.0, 0.05, 0.5)], None);
        check(vec![], None);
    }
}
