//! `cards`, `models` and `gallery`: what can be recorded, and where.

use actix_web::HttpResponse;
use actix_web::http::header::CACHE_CONTROL;
use actix_web::web::{self, Data, ServiceConfig};
use serde::Serialize;
use shared::api::{CardRow, ModelRow};
use shared::job::{Card, Model};

use crate::serve::state::State;

/// Adds the routes of these resources.
pub(crate) fn configure(config: &mut ServiceConfig) {
    config
        .service(web::resource("/cards").route(web::get().to(cards)))
        .service(web::resource("/models").route(web::get().to(models)))
        .service(web::resource("/gallery").route(web::get().to(gallery)));
}

async fn cards() -> HttpResponse {
    let row = |card: Card| CardRow {
        compute_capability: card.capability.to_string(),
        memory_bytes: card.memory_bytes,
        name: card.name,
    };
    listed(&Card::all().map(row).collect::<Vec<_>>())
}

async fn models() -> HttpResponse {
    let row = |preset: &'static str| {
        let model = Model::preset(preset)?;
        let (family, parameters) = (model.family().to_owned(), model.parameters());
        Some(ModelRow { preset: preset.to_owned(), family, parameters })
    };
    listed(&Model::presets().filter_map(row).collect::<Vec<_>>())
}

async fn gallery(state: Data<State>) -> HttpResponse {
    listed(&state.gallery)
}

/// A list that changes with the version of the server only.
fn listed(rows: &impl Serialize) -> HttpResponse {
    HttpResponse::Ok().insert_header((CACHE_CONTROL, "max-age=300")).json(rows)
}
