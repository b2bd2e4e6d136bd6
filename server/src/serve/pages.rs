//! Documents at addresses that no file has: what they show, their own modules ask the interface for.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};

use crate::serve::asset::respond;
use crate::serve::error::{ErrorCode, refuse_page};
use crate::serve::site::Site;

/// The document of the list of jobs and of each of them.
pub(crate) async fn jobs(request: HttpRequest, site: Data<Site>) -> HttpResponse {
    match site.document("/jobs.html") {
        Some(document) => respond(&document.asset, request.headers()),
        None => refuse_page(ErrorCode::NotFound, "There is no such page."),
    }
}
