//! Bytes that the browser holds outside of the module's memory, and files that the page offers as downloads.

use super::browser::window;
use futures_channel::oneshot;
use gloo_timers::callback::Timeout;
use js_sys::{Array, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
pub use web_sys::Blob;
use web_sys::{
    BlobPropertyBag, CanvasRenderingContext2d, Element, File, HtmlCanvasElement, HtmlElement, HtmlImageElement, Url,
};

/// Creates a `Blob` of a media type, which page and Web Worker can exchange without a copy; it fails, as all below, if
/// the browser has no room for it.
pub fn blob(bytes: &[u8], media_type: &str) -> Result<Blob, JsValue> {
    let properties = BlobPropertyBag::new();
    properties.set_type(media_type);
    Blob::new_with_u8_array_sequence_and_options(&Array::of1(&Uint8Array::from(bytes)), &properties)
}

pub fn text_blob(text: &str, media_type: &str) -> Result<Blob, JsValue> {
    blob(text.as_bytes(), media_type)
}

/// Gives a `Blob` a file name, as if it were a chosen file; `None` if the browser has no room for it.
pub fn file_of(blob: &Blob, name: &str) -> Option<File> {
    File::new_with_blob_sequence(&Array::of1(blob), name).ok()
}

/// Time in milliseconds after which the browser has certainly begun to read a download.
const READ_MS: u32 = 60_000;

/// Downloads a file under the given name.
pub fn save(file: &Blob, name: &str) -> Result<(), JsValue> {
    let url = Url::create_object_url_with_blob(file)?;
    let link = new_element("a")?;
    link.set_attribute("href", &url)?;
    link.set_attribute("download", name)?;
    link.unchecked_ref::<HtmlElement>().click();
    Timeout::new(READ_MS, move || {
        // It does not fail for a URL that was created here.
        let _ = Url::revoke_object_url(&url);
    })
    .forget();
    Ok(())
}

/// Renders an SVG picture as PNG, with `scale` pixels per SVG pixel.
pub async fn png_of(svg: &Blob, scale: f64) -> Result<Blob, JsValue> {
    let url = Url::create_object_url_with_blob(svg)?;
    let drawn = drawn(&url, scale).await;
    Url::revoke_object_url(&url)?;
    encoded(&drawn?).await
}

async fn encoded(canvas: &HtmlCanvasElement) -> Result<Blob, JsValue> {
    let (sender, receiver) = oneshot::channel();
    let take = Closure::once(move |file: Option<Blob>| drop(sender.send(file)));
    canvas.to_blob(take.as_ref().unchecked_ref())?;
    receiver.await.ok().flatten().ok_or(JsValue::NULL)
}

async fn drawn(url: &str, scale: f64) -> Result<HtmlCanvasElement, JsValue> {
    let image: HtmlImageElement = new_element("img")?.unchecked_into();
    image.set_src(url);
    JsFuture::from(image.decode()).await?;
    let (width, height) = (f64::from(image.natural_width()) * scale, f64::from(image.natural_height()) * scale);
    let canvas: HtmlCanvasElement = new_element("canvas")?.unchecked_into();
    canvas.set_width(width as u32);
    canvas.set_height(height as u32);
    let context: CanvasRenderingContext2d = canvas.get_context("2d")?.ok_or(JsValue::NULL)?.unchecked_into();
    context.draw_image_with_html_image_element_and_dw_and_dh(&image, 0.0, 0.0, width, height)?;
    Ok(canvas)
}

fn new_element(name: &str) -> Result<Element, JsValue> {
    window().document().ok_or(JsValue::NULL)?.create_element(name)
}
