//! Serves the page of a link: the viewer, with metadata for link previews.

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, ContentType, HOST};
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use shared::api::{ErrorCode, SnapshotDigest};
use shared::base::format::{bytes, counted};
use tracing::error;

use crate::database::ShareRow;
use crate::serve::document::{Head, Preview};
use crate::serve::error::refuse_page;
use crate::serve::preview;
use crate::serve::site::Site;
use crate::serve::state::State;
use crate::shares::{digest_of, hash_of};

/// Returns the page of a link.
///
/// The page is the viewer, which loads the snapshot itself and reports an expired link.
#[utoipa::path(
    get, path = "/s/{token}", operation_id = "link_page", tag = "pages",
    params(("token" = String, Path, description = "The link's `token`")),
    responses(
        (status = 200, description = "The page", body = String, content_type = "text/html"),
        (status = 404, description = "The same page, for an unknown link", body = String, content_type = "text/html"),
        (status = 503, description = "The same page without figures", body = String, content_type = "text/html")
    )
)]
pub(crate) async fn page(
    request: HttpRequest,
    token: Path<String>,
    site: Data<Site>,
    state: Data<State>,
) -> HttpResponse {
    let Some(document) = site.document("/index.html") else {
        return refuse_page(ErrorCode::NotFound, "There is no such page.");
    };
    let (status, head) = match state.database.shared(&hash_of(&token)).await {
        Ok(Some(share)) => (StatusCode::OK, head(&share, &address(&request, &state), &token)),
        Ok(None) => (StatusCode::NOT_FOUND, without_figures("Link not found")),
        Err(error) => {
            error!(%error, "the figures of a link can't be read");
            (StatusCode::SERVICE_UNAVAILABLE, without_figures("Shared snapshot"))
        }
    };
    HttpResponse::build(status)
        .insert_header(ContentType::html())
        .insert_header((CACHE_CONTROL, if status == StatusCode::OK { "private, no-cache" } else { "no-store" }))
        .body(document.with_head(&head))
}

fn head(share: &ShareRow, address: &str, token: &str) -> Head {
    let page = format!("{address}/s/{token}");
    Head {
        title: share.title.clone(),
        description: description(&digest_of(share)),
        preview: Some(Preview { picture: format!("{page}/preview.png"), page, size: preview::SIZE }),
    }
}

fn without_figures(title: &str) -> Head {
    Head { title: title.to_owned(), description: GENERAL.to_owned(), preview: None }
}

/// Description that fits every link.
const GENERAL: &str = "A snapshot of a PyTorch job's GPU memory.";

/// Summarizes a snapshot in one line of figures.
fn description(digest: &SnapshotDigest) -> String {
    if *digest == SnapshotDigest::default() {
        return GENERAL.to_owned();
    }
    let SnapshotDigest { peak_live_bytes, peak_reserved_bytes, devices, events, .. } = digest;
    let (live, reserved) = (bytes(*peak_live_bytes), bytes(*peak_reserved_bytes));
    let (devices, events) = (counted(u64::from(*devices), "device"), counted(*events, "event"));
    format!("Peak {live} live, {reserved} reserved · {devices} · {events}")
}

/// Returns the server's public address, without a trailing slash.
fn address(request: &HttpRequest, state: &State) -> String {
    state.config.public_address.clone().unwrap_or_else(|| {
        // Only a proxy says how it was asked; anybody else could lead a preview to another host.
        if state.guard.is_forwarded(request) {
            let asked = request.connection_info();
            return format!("{}://{}", asked.scheme(), asked.host());
        }
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        format!("http://{}", host.unwrap_or_else(|| request.app_config().host()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_a_line_of_figures() {
        let digest = SnapshotDigest {
            devices: 1,
            events: 120_000,
            peak_live_bytes: 13_207_024_435,
            peak_reserved_bytes: 14 << 30,
            ..SnapshotDigest::default()
        };
        assert_eq!(description(&digest), "Peak 12.3 GiB live, 14.0 GiB reserved · 1 device · 120,000 events");
        assert_eq!(description(&SnapshotDigest::default()), GENERAL);
    }
}
