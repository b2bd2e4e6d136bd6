//! The whole route table.

use actix_web::web::{self, ServiceConfig};

use crate::serve::{asset, error, health};

/// Adds every route to an app.
pub(crate) fn configure(config: &mut ServiceConfig) {
    config
        .route("/healthz", web::get().to(health::healthz))
        .service(web::scope("/api").default_service(web::to(error::unknown_resource)))
        .default_service(web::to(asset::serve));
}
