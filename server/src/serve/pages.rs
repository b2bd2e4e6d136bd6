//! Serves pages without files of their own; their modules load the content through the API.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use shared::api::ErrorCode;

use crate::serve::asset::respond;
use crate::serve::error::refuse_page;
use crate::serve::site::Site;

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
