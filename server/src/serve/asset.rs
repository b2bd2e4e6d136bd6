//! Serves the files of the page, and pages without files of their own, whose modules load the content through the API.

use actix_web::http::Method;
use actix_web::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderMap, HeaderName, IF_NONE_MATCH, VARY,
};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use shared::api::ErrorCode;

use crate::serve::asset_file::{Asset, Encoding};
use crate::serve::error::refuse_page;
use crate::serve::site::Site;

/// Handles `GET` and `HEAD` for every path that no other route matches.
pub(crate) async fn serve(request: HttpRequest, site: Data<Site>) -> HttpResponse {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return refuse_page(ErrorCode::MethodNotAllowed, "This page accepts only GET and HEAD.");
    }
    match site.find(request.path()) {
        Some(asset) => respond(asset, request.headers()),
        None => refuse_page(ErrorCode::NotFound, "There is no such page."),
    }
}

/// Responds with a file, or with 304 if the client has it already.
pub(super) fn respond(asset: &Asset, headers: &HeaderMap) -> HttpResponse {
    let copy = asset.copies.iter().find(|copy| accepts(headers, copy.encoding));
    // Representations with different bytes need different tags.
    let tag = format!("\"{}{}\"", asset.hash, copy.map_or("", |copy| copy.encoding.suffix()));
    let (mut response, unchanged) = tagged(headers, &tag, asset.cache_control);
    if !asset.copies.is_empty() {
        response.insert_header((VARY, "Accept-Encoding"));
    }
    if unchanged {
        return response.finish();
    }
    if let Some(copy) = copy {
        response.insert_header((CONTENT_ENCODING, copy.encoding.name()));
    }
    response.insert_header((CONTENT_TYPE, asset.content_type));
    response.body(copy.map_or(&asset.plain, |copy| &copy.bytes).clone())
}

/// Returns true if the request accepts this encoding, by name or by `*`, with a weight above zero.
fn accepts(headers: &HeaderMap, encoding: Encoding) -> bool {
    let weight_of = |wanted: &str| {
        list(headers, ACCEPT_ENCODING).find_map(|item| {
            let (name, parameters) = item.split_once(';').unwrap_or((item, ""));
            let weight = || parameters.trim().strip_prefix("q=").map_or(Some(1.0), |weight| weight.trim().parse().ok());
            name.trim().eq_ignore_ascii_case(wanted).then(|| weight().unwrap_or(0.0))
        })
    };
    weight_of(encoding.name()).or_else(|| weight_of("*")).unwrap_or(0.0) > 0.0
}

/// Begins a response with a tag, and returns true if it is 304, because the client already has this representation.
pub(super) fn tagged(headers: &HeaderMap, tag: &str, cache_control: &'static str) -> (HttpResponseBuilder, bool) {
    let is_tag = |known: &str| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag;
    let unchanged = list(headers, IF_NONE_MATCH).any(is_tag);
    let mut response = if unchanged { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header((ETAG, tag)).insert_header((CACHE_CONTROL, cache_control));
    (response, unchanged)
}

/// Returns the items of a comma-separated header, over all of its lines.
fn list(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    headers.get_all(name).filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).map(str::trim)
}

/// Returns the page with all jobs.
#[utoipa::path(
    get, path = "/jobs", operation_id = "jobs_page", tag = "pages",
    responses((status = 200, description = "The page", body = String, content_type = "text/html"))
)]
pub(crate) async fn jobs(request: HttpRequest, site: Data<Site>) -> HttpResponse {
    document(&request, &site)
}

/// Returns the page of a job.
#[utoipa::path(
    get, path = "/jobs/{id}", operation_id = "job_page", tag = "pages",
    params(("id" = String, Path, description = "The job's `id`")),
    responses((
        status = 200, description = "The page, even if there is no such job", body = String, content_type = "text/html"
    ))
)]
pub(crate) async fn job(request: HttpRequest, site: Data<Site>) -> HttpResponse {
    document(&request, &site)
}

fn document(request: &HttpRequest, site: &Site) -> HttpResponse {
    match site.document("/jobs.html") {
        Some(document) => respond(&document.asset, request.headers()),
        None => refuse_page(ErrorCode::NotFound, "There is no such page."),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;

    use super::*;

    #[track_caller]
    fn check_accepts(header: &'static str, brotli: bool, gzip: bool) {
        let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(header))]);
        assert_eq!(
            (accepts(&headers, Encoding::Brotli), accepts(&headers, Encoding::Gzip)),
            (brotli, gzip),
            "{header}"
        );
    }

    #[test]
    fn encodings_are_taken_as_named() {
        check_accepts("gzip, deflate, br, zstd", true, true);
        check_accepts("gzip", false, true);
        check_accepts("GZIP;q=0.5", false, true);
        check_accepts("br;q=0, *", false, true);
        check_accepts("br; q=0.0, gzip; q=1", false, true);
        check_accepts("*;q=0", false, false);
        check_accepts("identity", false, false);
        check_accepts("br;q=nonsense", false, false);
        check_accepts("", false, false);
    }
}
