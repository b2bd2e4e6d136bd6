//! Serves `/s/{token}/preview.png`, the picture of a link preview.
//!
//! The drawn content of a link never changes, so its tag is a hash of that content, and a client with the picture gets
//! 304 before anything is drawn. Drawing takes some ten milliseconds of processor time; therefore the latest pictures
//! are cached and only one is drawn at a time.

mod cache;
mod picture;

pub(crate) use cache::Previews;
pub(crate) use picture::SIZE;

use actix_web::http::header::{CONTENT_TYPE, HeaderName};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use sha2::{Digest as _, Sha256};

use super::api::shares::find;
use super::asset::tagged;
use super::error::ApiError;
use super::state::State;
use crate::hex::hex;

/// Part of the tag; changing it invalidates all pictures.
const VERSION: &str = "2";

/// Returns the preview picture of a link, 1200 by 630 pixels.
#[utoipa::path(
    get, path = "/s/{token}/preview.png", operation_id = "link_preview", tag = "pages",
    params(("token" = String, Path, description = "The link's `token`")),
    responses(
        (status = 200, description = "The picture", body = Vec<u8>, content_type = "image/png"),
        (status = 304, description = "The picture has the tag in `If-None-Match`")
    )
)]
pub(crate) async fn preview(
    request: HttpRequest,
    token: Path<String>,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let share = find(&state, &token).await?;
    let tag = format!("\"{}\"", &hex(Sha256::digest([VERSION, &share.title, &share.digest].join("\n")))[..24]);
    let (mut response, unchanged) = tagged(request.headers(), &tag, "private, no-cache");
    // Other sites may embed the picture, which is its purpose.
    response.insert_header((HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"));
    if unchanged {
        return Ok(response.finish());
    }
    Ok(response.insert_header((CONTENT_TYPE, "image/png")).body(state.previews.picture(&tag, share).await?))
}
