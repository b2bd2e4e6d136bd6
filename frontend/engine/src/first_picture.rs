//! Makes the images of pictures, and delays other work of the Web Worker until the page has the first one.
//!
//! The page asks for that picture before anything else, and has only to draw the images: colouring a picture and handing it
//! to a canvas takes the page as long as a frame, and the worker less, because it has nothing to present meanwhile.

use frontend::ask::{PictureData, Question, Report, raster};
use frontend::platform::context_options;
use js_sys::Object;
use std::cell::OnceCell;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{ImageBitmap, ImageData, OffscreenCanvas, OffscreenCanvasRenderingContext2d};

/// State of the request for the first picture of a file.
///
/// The page asks as soon as it has laid out the timeline, a few frames after it receives the first figures. Work that
/// the worker starts in between would delay the picture, for a large trace by a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FirstPicture {
    /// No figures have been sent, so that the page cannot ask yet.
    #[default]
    NotDue,
    /// The page is about to ask.
    Awaited,
    /// The picture was drawn, or the page does not want one.
    Over,
}

impl FirstPicture {
    /// Records a report to the page; returns true if it makes the page ask for the picture.
    pub(crate) fn told(&mut self, report: &Report) -> bool {
        let begins = *self == Self::NotDue && matches!(report, Report::Figures(_));
        if begins {
            *self = Self::Awaited;
        }
        begins
    }

    /// Returns true if the question is the one that other questions wait for, too.
    pub(crate) fn awaits(self, question: &Question) -> bool {
        self == Self::Awaited && matches!(question, Question::GetPicture(_))
    }

    /// Records that a question was answered.
    pub(crate) fn answered(&mut self, question: &Question) {
        if matches!(question, Question::GetPicture(_)) {
            *self = Self::Over;
        }
    }

    /// Stops waiting, as for a tab in the background.
    pub(crate) fn give_up(&mut self) {
        *self = Self::Over;
    }
}

/// Canvas on which the worker draws; it is never shown.
#[derive(Default)]
pub(crate) struct Images {
    canvas: Option<OffscreenCanvas>,
    /// Buffer for coloured pixels, reused for the next picture.
    colored: Vec<[u8; 4]>,
    is_software: OnceCell<bool>,
}

impl Images {
    /// Replaces the pixels of a picture by an image; a browser that can't make it leaves the pixels.
    pub(crate) fn take(&mut self, picture: &mut PictureData) -> Option<ImageBitmap> {
        let asked = picture.view.as_ref()?;
        let (width, height) = (asked.request.width_px, asked.request.height_px);
        let canvas = match self.canvas.take() {
            Some(canvas) => canvas,
            None => OffscreenCanvas::new(width, height).ok()?,
        };
        if (canvas.width(), canvas.height()) != (width, height) {
            canvas.set_width(width);
            canvas.set_height(height);
        }
        raster::color(&picture.pixels, asked, &mut self.colored);
        let pixels = Clamped(self.colored.as_flattened());
        let image = ImageData::new_with_u8_clamped_array_and_sh(pixels, width, height).ok()?;
        let context: OffscreenCanvasRenderingContext2d =
            context(&canvas, "2d", &[("alpha", false), ("willReadFrequently", self.is_software())])?.dyn_into().ok()?;
        context.put_image_data(&image, 0.0, 0.0).ok()?;
        let image = canvas.transfer_to_image_bitmap().ok()?;
        self.canvas = Some(canvas);
        picture.pixels = Vec::new();
        Some(image)
    }

    /// Returns true without a graphics card: the page then draws in memory, and so must the worker.
    fn is_software(&self) -> bool {
        *self.is_software.get_or_init(|| {
            let trial = OffscreenCanvas::new(1, 1).ok();
            trial.and_then(|trial| context(&trial, "webgl2", &[("failIfMajorPerformanceCaveat", true)])).is_none()
        })
    }
}

fn context(canvas: &OffscreenCanvas, kind: &str, options: &[(&str, bool)]) -> Option<Object> {
    canvas.get_context_with_context_options(kind, &context_options(options)?).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use frontend::ask::{Axis, GetOutline, GetPicture};
    use shared::analysis::PictureRequest;
    use shared::trace::text;

    #[test]
    fn what_takes_long_waits_for_the_first_picture() {
        let mut engine = Engine::new(text::parse("alloc a 5").unwrap());
        let mut first = FirstPicture::default();
        let figures = engine.next_report().unwrap();
        assert!(first.told(&figures));
        assert!(!first.told(&figures), "only the first figures count");
        first.answered(&GetOutline { device: 0, axis: Axis::Events, columns: 9 }.into());
        assert_eq!(first, FirstPicture::Awaited);
        let view = frontend::ask::View {
            request: PictureRequest {
                axis: Axis::Events,
                x0: 0.0,
                x1: 2.0,
                y0: 0.0,
                y1: 5.0,
                width_px: 9,
                height_px: 9,
            },
            pixel_ratio: 1.0,
            color: frontend::ask::ColorBy::Stack,
            scheme: Default::default(),
            marking: Default::default(),
        };
        let question = GetPicture { device: 0, view, kind: None }.into();
        assert!(first.awaits(&question));
        first.answered(&question);
        assert!(first == FirstPicture::Over && !first.awaits(&question));
        assert!(!first.told(&figures), "it never comes back");
    }

    #[test]
    fn a_page_that_does_not_ask_is_not_waited_for() {
        let mut first = FirstPicture::Awaited;
        first.give_up();
        assert_eq!(first, FirstPicture::Over);
    }
}
