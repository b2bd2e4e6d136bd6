//! Handles `cards`, `models` and `gallery`, which describe what can be recorded.

use actix_web::HttpResponse;
use actix_web::http::header::CACHE_CONTROL;
use actix_web::web::Data;
use serde::Serialize;
use shared::api::{CardRow, GalleryRow, ModelRow};
use shared::job::{Card, Model};

use crate::serve::state::State;

/// Returns the virtual GPUs.
#[utoipa::path(
    get, path = "/api/v1/cards", operation_id = "list_cards", tag = "catalog",
    responses((status = 200, description = "The virtual GPUs", body = Vec<CardRow>))
)]
pub(crate) async fn cards() -> HttpResponse {
    let row = |card: Card| CardRow {
        compute_capability: card.capability.to_string(),
        memory_bytes: card.memory_bytes,
        name: card.name,
    };
    listed(&Card::all().map(row).collect::<Vec<_>>())
}

/// Returns the model presets.
#[utoipa::path(
    get, path = "/api/v1/models", operation_id = "list_models", tag = "catalog",
    responses((status = 200, description = "The presets", body = Vec<ModelRow>))
)]
pub(crate) async fn models() -> HttpResponse {
    let row = |preset: &'static str| {
        let model = Model::preset(preset)?;
        let (family, parameters) = (model.family().to_owned(), model.parameters());
        Some(ModelRow { preset: preset.to_owned(), family, parameters })
    };
    listed(&Model::presets().filter_map(row).collect::<Vec<_>>())
}

/// Returns example configs, and scripts with mistakes, their repairs and the recordings of both.
#[utoipa::path(
    get, path = "/api/v1/gallery", operation_id = "list_gallery", tag = "catalog",
    responses((status = 200, description = "The configs and scripts, sorted by name", body = Vec<GalleryRow>))
)]
pub(crate) async fn gallery(state: Data<State>) -> HttpResponse {
    listed(&state.gallery)
}

/// Builds the response of a list that changes only with the version of the server.
fn listed(rows: &impl Serialize) -> HttpResponse {
    HttpResponse::Ok().insert_header((CACHE_CONTROL, "max-age=300")).json(rows)
}
