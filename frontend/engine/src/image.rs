//! Makes the images of pictures, so that the page has only to draw them.
//!
//! Colouring a picture and handing it to a canvas takes the page as long as a frame, and the worker less, because it
//! has nothing to present meanwhile.

use frontend::ask::{PictureData, raster};
use frontend::platform::context_options;
use js_sys::Object;
use std::cell::OnceCell;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{ImageBitmap, ImageData, OffscreenCanvas, OffscreenCanvasRenderingContext2d};

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
