//! Defines the route table: path, handler, access right and refusals of each route.
//!
//! The actix-web routes are made from the table together with their access checks, so that no spelling of a path avoids
//! them. The document at `/api/v1/openapi.json` takes its refusals from the table.

use std::rc::Rc;

use actix_web::http::Method;
use actix_web::middleware::from_fn;
use actix_web::web::{self, ServiceConfig};
use actix_web::{HttpRequest, Route, guard};

use crate::serve::access::{self, Access};
use crate::serve::api::{catalog, job_events, job_request, jobs, shares};
use crate::serve::error::{self, ErrorCode};
use crate::serve::{asset, health, link, login, metrics, openapi, pages, preview};

/// One method of a path.
pub(crate) struct Row {
    /// HTTP method; documents with `GET` also support `HEAD`.
    pub(crate) method: Method,
    /// Template of the path.
    pub(crate) path: &'static str,
    /// Errors that a request may get, besides those that any request may get.
    pub(crate) refusals: &'static [ErrorCode],
    pub(crate) access: Access,
    has_head: bool,
    handler: fn() -> Route,
}

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
    const FOUND: &[ErrorCode] = &[NotFound, Unavailable];
    const SHOWN: &[ErrorCode] = &[Unauthorized, NotFound, Unavailable];
    vec![
        read("/healthz", &[], || web::to(health::healthz)).of(Access::Health),
        read("/readyz", &[], || web::to(health::readyz)).of(Access::Health),
        read("/metrics", &[Unauthorized], || web::to(metrics::metrics)).of(Access::Metrics),
        get("/login", &[BadRequest], || web::to(login::page)).of(Access::Open),
        post("/login", &[BadRequest, Unauthorized, TooSlow, TooLarge], || web::to(login::login)).of(Access::Open),
        read("/jobs", &[], || web::to(pages::jobs)).of(Access::Page),
        read("/jobs/{id}", &[], || web::to(pages::job)).of(Access::Page),
        read("/s/{token}", &[], || web::to(link::page)).of(Access::Open),
        read("/s/{token}/preview.png", FOUND, || web::to(preview::preview)).of(Access::Open),
        read("/api/v1/openapi.json", &[], || web::to(openapi::document)).of(Access::Open),
        read("/api/v1/docs", &[], || web::to(openapi::page)).of(Access::Open),
        read("/api/v1/docs.css", &[], || web::to(openapi::style)).of(Access::Open),
        get("/api/v1/limits", &[Unavailable], || web::to(shares::limits)).of(Access::Open),
        get("/api/v1/cards", &[], || web::to(catalog::cards)).of(Access::Open),
        get("/api/v1/models", &[], || web::to(catalog::models)).of(Access::Open),
        get("/api/v1/gallery", &[], || web::to(catalog::gallery)).of(Access::Open),
        get("/api/v1/jobs", &[BadRequest, Unauthorized, Unavailable], || web::to(jobs::list)),
        post("/api/v1/jobs", SUBMITTED, || web::to(jobs::submit)).of(Access::Submit),
        get("/api/v1/jobs/{id}", SHOWN, || web::to(jobs::get)),
        patch("/api/v1/jobs/{id}", CHANGED, || web::to(jobs::change)),
        delete("/api/v1/jobs/{id}", &[Unauthorized, NotFound, Conflict, Unavailable, NoRoom], || web::to(jobs::delete)),
        get("/api/v1/jobs/{id}/events", SHOWN, || web::to(job_events::events)),
        post("/api/v1/jobs/{id}/cancel", &[Unauthorized, NotFound, Unavailable], || web::to(jobs::cancel)),
        get("/api/v1/jobs/{id}/snapshot", &[Unauthorized, NotFound, Gone, Unavailable], || web::to(jobs::snapshot)),
        post("/api/v1/shares", SHARED, || web::to(shares::share)).of(Access::Submit),
        get("/api/v1/shares/{token}", FOUND, || web::to(shares::get)).of(Access::Open),
        delete("/api/v1/shares/{token}", &[Unauthorized, NotFound, Unavailable], || web::to(shares::delete))
            .of(Access::OwnToken),
        get("/api/v1/shares/{token}/snapshot", &[NotFound, Gone, Unavailable], || web::to(shares::snapshot))
            .of(Access::Open),
    ]
}

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
        .app_data(job_request::form_limits())
        .service(web::scope("/api").default_service(web::to(error::unknown_resource)))
        .default_service(web::to(asset::serve));
}

impl Row {
    /// Sets an access right that differs from the default of the method.
    fn of(self, access: Access) -> Self {
        Self { access, ..self }
    }

    fn route(&self) -> Route {
        let method = guard::Any(guard::Method(self.method.clone()));
        (self.handler)().guard(if self.has_head { method.or(guard::Head()) } else { method })
    }

    /// Returns the methods as in an `Allow` header.
    fn methods(&self) -> String {
        format!("{}{}", self.method, if self.has_head { ", HEAD" } else { "" })
    }
}

/// Makes the row of a document that also supports `HEAD`.
fn read(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { has_head: true, ..get(path, refusals, handler) }
}

fn get(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { method: Method::GET, path, refusals, access: Access::Read, has_head: false, handler }
}

fn post(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { method: Method::POST, ..change(path, refusals, handler) }
}

fn patch(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { method: Method::PATCH, ..change(path, refusals, handler) }
}

fn delete(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { method: Method::DELETE, ..change(path, refusals, handler) }
}

fn change(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { access: Access::Change, ..get(path, refusals, handler) }
}
