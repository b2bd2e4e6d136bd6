//! The whole route table.

use actix_web::web::{self, ServiceConfig};

use crate::serve::{api, asset, error, health};

/// Adds every route to an app.
pub(crate) fn configure(config: &mut ServiceConfig) {
    config
        .route("/healthz", web::get().to(health::healthz))
        .route("/readyz", web::get().to(health::readyz))
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
