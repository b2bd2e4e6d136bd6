//! Describes the API as an OpenAPI document for programs, and shows it to people in Swagger UI.
//!
//! Handlers describe themselves; their refusals come from the route table and the table of errors. The page loads
//! nothing from other hosts.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use actix_web::http::Method;
use actix_web::web::{Data, Path};
use actix_web::{HttpRequest, HttpResponse};
use shared::api::{ErrorBody, ErrorCode, JobEvent, ProblemBody};
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, ResponseBuilder};
use utoipa::{Modify, OpenApi as _};
use utoipa_swagger_ui::Config;

use crate::serve::asset::respond;
use crate::serve::asset_file::Asset;
use crate::serve::error::{self, ApiError};
use crate::serve::route::Row;

/// Errors that any request may get.
const ANY: [ErrorCode; 2] = [ErrorCode::Forbidden, ErrorCode::TooManyRequests];

#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "Snapscope", description = "Record training configs, and share memory snapshots by links.\n\n\
        If the server has a token, submitting, renaming, cancelling, deleting and sharing require it; in private mode, \
        reading requires it too. Each response has an `X-Request-Id`: that of the request, or a new one. \
        Every error has the same form, `ErrorBody`, which says what happened and what to do."),
    tags(
        (name = "jobs", description = "Submit, watch, rename, cancel and delete recordings"),
        (name = "shares", description = "Share snapshots by links"),
        (name = "catalog", description = "Virtual GPUs, models and example configs, and the limits of this server"),
        (name = "operations", description = "Health checks, metrics and this document"),
        (name = "pages", description = "Web pages")
    ),
    components(schemas(ErrorBody, ProblemBody, JobEvent)),
    paths(
        crate::serve::api::jobs::list, crate::serve::api::jobs::submit, crate::serve::api::jobs::get,
        crate::serve::api::jobs::events, crate::serve::api::jobs::cancel, crate::serve::api::jobs::snapshot,
        crate::serve::api::jobs::change, crate::serve::api::jobs::delete,
        crate::serve::api::shares::share, crate::serve::api::shares::get, crate::serve::api::shares::delete,
        crate::serve::api::shares::findings, crate::serve::api::shares::snapshot,
        crate::serve::api::shares::limits,
        crate::serve::api::catalog::cards, crate::serve::api::catalog::models, crate::serve::api::catalog::gallery,
        crate::serve::api::gallery::get, crate::serve::api::gallery::record,
        crate::serve::health::healthz, crate::serve::health::readyz, crate::serve::metrics::metrics,
        crate::serve::link::page, crate::serve::preview::preview,
        crate::serve::login::page, crate::serve::login::login,
        crate::serve::asset::jobs, crate::serve::asset::job,
        document, page, file,
    ),
    modifiers(&Tokens)
)]
struct Document;

fn operation_of<'a>(item: &'a mut PathItem, row: &Row) -> Option<&'a mut Operation> {
    let operation = match row.method {
        Method::GET => &mut item.get,
        Method::POST => &mut item.post,
        Method::PATCH => &mut item.patch,
        Method::DELETE => &mut item.delete,
        _ => return None,
    };
    operation.as_mut()
}

/// Adds a refusal to an operation; refusals with the same status share a response.
fn refuse(operation: &mut Operation, code: ErrorCode) {
    use utoipa::openapi::RefOr;
    let status = error::status(code);
    let said = format!("`{code}`: {}", code.answer().1);
    let responses = &mut operation.responses.responses;
    match responses.get_mut(status.as_str()) {
        Some(RefOr::T(response)) => response.description = format!("{} {said}", response.description),
        _ => {
            let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorBody"))).build();
            let response = ResponseBuilder::new().description(said).content("application/json", content).build();
            responses.insert(status.as_str().to_owned(), response.into());
        }
    }
}

/// Adds the security schemes of the tokens.
struct Tokens;

impl Modify for Tokens {
    fn modify(&self, document: &mut OpenApi) {
        let components = document.components.get_or_insert_default();
        for (name, description) in [
            ("token", "The server's token, if it has one; in private mode, reading requires it too."),
            ("metrics_token", "The token for metrics, or the server's token."),
            ("delete_token", "The deletion token of a link, from the response that created it."),
        ] {
            let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(description)).build();
            components.add_security_scheme(name, SecurityScheme::Http(scheme));
        }
    }
}

pub(crate) struct ApiDocument(Asset);

impl ApiDocument {
    /// Describes the routes.
    pub(crate) fn new(rows: &[Row]) -> Self {
        Self(Asset::made("openapi.json", format!("{:#}\n", described(rows))))
    }
}

fn described(rows: &[Row]) -> serde_json::Value {
    let mut document = Document::openapi();
    for row in rows {
        let item = document.paths.paths.get_mut(row.path);
        if let Some(operation) = item.and_then(|item| operation_of(item, row)) {
            row.refusals.iter().chain(&ANY).for_each(|code| refuse(operation, *code));
        }
    }
    serde_json::to_value(&document).expect("plain data can be written")
}

/// Returns this document.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", operation_id = "get_document", tag = "operations",
    responses((status = 200, description = "OpenAPI 3.1", body = String, content_type = "application/json"))
)]
pub(crate) async fn document(request: HttpRequest, document: Data<ApiDocument>) -> HttpResponse {
    respond(&document.0, request.headers())
}

/// Shows this document in Swagger UI.
#[utoipa::path(
    get, path = "/api/v1/docs", operation_id = "get_docs", tag = "operations",
    responses((status = 200, description = "The page", body = String, content_type = "text/html"))
)]
pub(crate) async fn page(request: HttpRequest) -> HttpResponse {
    respond(&FILES[PAGE], request.headers())
}

/// Returns a script, a style sheet or an icon of that page.
#[utoipa::path(
    get, path = "/api/v1/docs/{file}", operation_id = "get_docs_file", tag = "operations",
    params(("file" = String, Path, description = "The file's name")),
    responses((status = 200, description = "The file", body = String))
)]
pub(crate) async fn file(request: HttpRequest, name: Path<String>) -> Result<HttpResponse, ApiError> {
    let file = FILES.get(name.as_str()).ok_or_else(|| ApiError::not_found("The page has no such file."))?;
    Ok(respond(file, request.headers()))
}

/// Name of the page among the files.
const PAGE: &str = "index.html";

/// Other files that the page loads.
const LOADED: [&str; 7] = [
    "favicon-16x16.png",
    "favicon-32x32.png",
    "index.css",
    "swagger-initializer.js",
    "swagger-ui-bundle.js",
    "swagger-ui-standalone-preset.js",
    "swagger-ui.css",
];

static FILES: LazyLock<BTreeMap<&'static str, Asset>> = LazyLock::new(|| {
    let config = Arc::new(Config::from("/api/v1/openapi.json").use_base_layout());
    let made = |name| {
        let file = utoipa_swagger_ui::serve(name, Arc::clone(&config)).ok().flatten().expect("a file of Swagger UI");
        let bytes = if name == PAGE { of_this_server(&file.bytes) } else { file.bytes.into_owned() };
        (name, Asset::made(name, bytes))
    };
    LOADED.into_iter().chain([PAGE]).map(made).collect()
});

/// Gives the page a title, and links that work without a slash at the end of its path.
fn of_this_server(page: &[u8]) -> Vec<u8> {
    let page = String::from_utf8_lossy(page).replace("<title>Swagger UI</title>", "<title>API – Snapscope</title>");
    let page = page.replace("=\"index.css\"", "=\"./index.css\"");
    page.replace("=\"./", "=\"/api/v1/docs/").into_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::serve::routes;

    #[test]
    fn routes_and_document_agree() {
        let json = described(&routes::table());
        let paths = json["paths"].as_object().unwrap();
        let documented = paths.iter().flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().keys();
            methods.filter(|key| *key != "parameters").map(move |method| (method.to_uppercase(), path.clone()))
        });
        let documented: BTreeSet<(String, String)> = documented.collect();
        let routed: BTreeSet<(String, String)> =
            routes::table().iter().map(|row| (row.method.to_string(), row.path.to_owned())).collect();
        assert_eq!(documented, routed);
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let json = described(&routes::table());
        let items = json["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
        let names: Vec<_> = items.map(|operation| operation["operationId"].as_str().unwrap().to_owned()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    }
}
