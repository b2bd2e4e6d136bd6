//! Defines the route table: path, handler, access right and refusals of each route.
//!
//! The actix-web routes are made from the table together with their access checks, so that no spelling of a path avoids
//! them. The document at `/api/v1/openapi.json` takes its refusals from the table.

use std::rc::Rc;
use std::sync::LazyLock;

use actix_web::HttpRequest;
use actix_web::middleware::from_fn;
use actix_web::web::{self, Data, ServiceConfig};
use shared::api::ErrorCode;

use crate::serve::access;
use crate::serve::api::{catalog, gallery, jobs, shares};
use crate::serve::error;
use crate::serve::openapi::ApiDocument;
use crate::serve::route::Access;
use crate::serve::route::{Row, delete, get, patch, post, read};
use crate::serve::{asset, health, link, login, metrics, openapi, preview};

/// Returns all routes except the files of the page; rows of one path are adjacent.
pub(crate) fn table() -> Vec<Row> {
    use ErrorCode::{
        BadRequest, Conflict, Gone, InvalidConfig, InvalidSnapshot, NoRoom, NotFound, QueueFull, TooLarge, TooSlow,
        Unauthorized, Unavailable,
    };
    const SUBMITTED: &[ErrorCode] =
        &[BadRequest, Unauthorized, TooSlow, Conflict, TooLarge, InvalidConfig, QueueFull, Unavailable, NoRoom];
    const SHARED: &[ErrorCode] = &[BadRequest, Unauthorized, TooSlow, TooLarge, InvalidSnapshot, Unavailable, NoRoom];
    const CHANGED: &[ErrorCode] = &[BadRequest, Unauthorized, NotFound, TooSlow, TooLarge, Unavailable, NoRoom];
    const RECORDED: &[ErrorCode] = &[Unauthorized, NotFound, InvalidConfig, QueueFull, Unavailable, NoRoom];
    const FOUND: &[ErrorCode] = &[NotFound, Unavailable];
    const DIAGNOSED: &[ErrorCode] = &[NotFound, Gone, TooLarge, InvalidSnapshot, Unavailable];
    const SHOWN: &[ErrorCode] = &[Unauthorized, NotFound, Unavailable];
    vec![
        read("/healthz", &[], || web::to(health::healthz)).of(Access::Health),
        read("/readyz", &[], || web::to(health::readyz)).of(Access::Health),
        read("/metrics", &[Unauthorized], || web::to(metrics::metrics)).of(Access::Metrics),
        get("/login", &[BadRequest], || web::to(login::page)).of(Access::Open),
        post("/login", &[BadRequest, Unauthorized, TooSlow, TooLarge], || web::to(login::login)).of(Access::Open),
        read("/jobs", &[], || web::to(asset::jobs)).of(Access::Page),
        read("/jobs/{id}", &[], || web::to(asset::job)).of(Access::Page),
        read("/s/{token}", &[], || web::to(link::page)).of(Access::Open),
        read("/s/{token}/preview.png", FOUND, || web::to(preview::preview)).of(Access::Open),
        read("/api/v1/openapi.json", &[], || web::to(openapi::document)).of(Access::Open),
        read("/api/v1/docs", &[], || web::to(openapi::page)).of(Access::Open),
        read("/api/v1/docs/{file}", &[NotFound], || web::to(openapi::file)).of(Access::Open),
        get("/api/v1/limits", &[Unavailable], || web::to(shares::limits)).of(Access::Open),
        get("/api/v1/cards", &[], || web::to(catalog::cards)).of(Access::Open),
        get("/api/v1/models", &[], || web::to(catalog::models)).of(Access::Open),
        get("/api/v1/gallery", &[], || web::to(catalog::gallery)).of(Access::Open),
        get("/api/v1/gallery/{name}/recording", SHOWN, || web::to(gallery::get)),
        post("/api/v1/gallery/{name}/recording", RECORDED, || web::to(gallery::record)).of(Access::Submit),
        get("/api/v1/jobs", &[BadRequest, Unauthorized, Unavailable], || web::to(jobs::list)),
        post("/api/v1/jobs", SUBMITTED, || web::to(jobs::submit)).of(Access::Submit),
        get("/api/v1/jobs/{id}", SHOWN, || web::to(jobs::get)),
        patch("/api/v1/jobs/{id}", CHANGED, || web::to(jobs::change)),
        delete("/api/v1/jobs/{id}", &[Unauthorized, NotFound, Conflict, Unavailable, NoRoom], || web::to(jobs::delete)),
        get("/api/v1/jobs/{id}/events", SHOWN, || web::to(jobs::events)),
        post("/api/v1/jobs/{id}/cancel", &[Unauthorized, NotFound, Unavailable], || web::to(jobs::cancel)),
        get("/api/v1/jobs/{id}/snapshot", &[Unauthorized, NotFound, Gone, Unavailable], || web::to(jobs::snapshot)),
        post("/api/v1/shares", SHARED, || web::to(shares::share)).of(Access::Submit),
        get("/api/v1/shares/{token}", FOUND, || web::to(shares::get)).of(Access::Open),
        delete("/api/v1/shares/{token}", &[Unauthorized, NotFound, Unavailable], || web::to(shares::delete))
            .of(Access::OwnToken),
        get("/api/v1/shares/{token}/findings", DIAGNOSED, || web::to(shares::findings)).of(Access::Open),
        get("/api/v1/shares/{token}/snapshot", &[NotFound, Gone, Unavailable], || web::to(shares::snapshot))
            .of(Access::Open),
    ]
}

/// Document of the API, which is made once for all threads of the server.
static DOCUMENT: LazyLock<Data<ApiDocument>> = LazyLock::new(|| Data::new(ApiDocument::new(&table())));

/// Adds all routes to an app.
pub(crate) fn configure(config: &mut ServiceConfig) {
    let table = table();
    for rows in table.chunk_by(|a, b| a.path == b.path) {
        let allowed = rows.iter().map(Row::methods).collect::<Vec<_>>().join(", ");
        let resource = rows.iter().fold(web::resource(rows[0].path), |resource, row| resource.route(row.route()));
        let resource = resource.default_service(web::to(move |request: HttpRequest| {
            let refusal = error::refuse_method(&request, &allowed);
            async { refusal }
        }));
        let accesses: access::Accesses = rows.iter().map(|row| (row.method.clone(), row.access)).collect();
        config.service(resource.wrap(from_fn(move |request, next| access::admit(Rc::clone(&accesses), request, next))));
    }
    config
        .app_data(DOCUMENT.clone())
        .service(web::scope("/api").default_service(web::to(error::unknown_resource)))
        .default_service(web::to(asset::serve));
}
