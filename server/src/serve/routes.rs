//! The whole route table.

use actix_web::web::{self, ServiceConfig};

use crate::serve::{api, asset, error, health, link, pages};

/// Adds every route to an app.
pub(crate) fn configure(config: &mut ServiceConfig) {
    config
        .route("/healthz", web::get().to(health::healthz))
        .route("/readyz", web::get().to(health::readyz))
        .service(web::resource(["/jobs", "/jobs/{id}"]).route(web::get().to(pages::jobs)))
        .service(web::resource("/s/{token}").route(web::get().to(link::page)))
        .service(
            web::scope("/api/v1")
                .configure(api::catalog::configure)
                .configure(api::jobs::configure)
                .configure(api::shares::configure)
                .default_service(web::to(error::unknown_resource)),
        )
        .service(web::scope("/api").default_service(web::to(error::unknown_resource)))
        .default_service(web::to(asset::serve));
}
