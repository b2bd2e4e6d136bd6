//! Reads query parameters and bodies, and requests for a job in each of their forms.

use actix_web::web::{Bytes, BytesMut, Payload, Query};
use actix_web::{HttpMessage as _, HttpRequest};
use futures_util::StreamExt as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use shared::api::{ErrorCode, JobChange, JobRequest, JobTask};
use shared::base::markup::deceives;
use utoipa::IntoParams;

use crate::serve::error::ApiError;
use crate::serve::pace::Pace;

/// Maximum size of a request, more than the config parser accepts, so that its error can state that limit.
const MOST_REQUEST_BYTES: usize = 4 << 20;

/// Maximum size of a change request, enough for a name with all characters escaped.
const MOST_CHANGE_BYTES: usize = 8 << 10;

/// Overrides in the address of a request whose body is the bare config.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Overrides {
    /// Name of the config's file, whose extension determines the format; otherwise the content does.
    file_name: Option<String>,
    /// Virtual GPUs that replace those of the config.
    card: Option<String>,
    /// Real GPU that replaces the virtual GPUs of the config.
    device: Option<String>,
    /// Optimizer steps that replace those of the config.
    steps: Option<u64>,
    /// Samples per micro-batch that replace those of the config.
    batch: Option<u64>,
    /// Tokens per sample that replace those of the config.
    sequence: Option<u64>,
    /// Priority from 0 to 9; higher priorities run first.
    priority: Option<u8>,
    /// What to do with the config; one recording if it is left out.
    task: Option<JobTask>,
}

/// Reads a request from JSON, or from a bare config with overrides in the address.
pub(super) async fn read(request: &HttpRequest, payload: Payload) -> Result<JobRequest, ApiError> {
    let bytes = read_body(payload, MOST_REQUEST_BYTES, "config").await?;
    if request.content_type() == mime::MULTIPART_FORM_DATA.essence_str() {
        let message = "A job is no form: send the config as the body, or JSON with `config` and `training_args`.";
        return Err(ApiError::new(ErrorCode::BadRequest, message));
    }
    let text = String::from_utf8(bytes.to_vec()).map_err(|_| {
        ApiError::new(ErrorCode::BadRequest, "The config is not text; it must be TOML, YAML or JSON in UTF-8.")
    })?;
    if request.content_type() == mime::APPLICATION_JSON.essence_str()
        && serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|value| value.get("config").is_some())
    {
        return serde_json::from_str(&text)
            .map_err(|error| ApiError::new(ErrorCode::BadRequest, format!("The request is not valid: {error}.")));
    }
    let Overrides { file_name, card, device, steps, batch, sequence, priority, task } =
        parameters(request.query_string())?;
    Ok(JobRequest {
        config: text,
        file_name,
        training_args: None,
        card,
        device,
        steps,
        batch,
        sequence,
        priority,
        task,
    })
}

/// Reads a change of a job and validates its name with the rule for names in configs.
pub(super) async fn read_change(payload: Payload) -> Result<JobChange, ApiError> {
    let bad = |message: String| ApiError::new(ErrorCode::BadRequest, message);
    let bytes = read_body(payload, MOST_CHANGE_BYTES, "name").await?;
    let JobChange { name } = serde_json::from_slice(&bytes)
        .map_err(|error| bad(format!("The request must be `{{\"name\": \"…\"}}`: {error}.")))?;
    let name = name.trim().to_owned();
    let most = JobChange::MOST_NAME;
    if name.is_empty() || name.chars().count() > most || name.chars().any(|c| c.is_control() || deceives(c)) {
        return Err(bad(format!("A name must be one line of 1 to {most} visible characters.")));
    }
    Ok(JobChange { name })
}

/// Reads a body and counts its bytes, because the declared length cannot be trusted.
pub(crate) async fn read_body(mut payload: Payload, most_bytes: usize, what: &str) -> Result<Bytes, ApiError> {
    let mut body = BytesMut::new();
    let mut pace = Pace::new();
    while let Some(piece) = pace.wait(payload.next()).await? {
        let broken_off = |error| ApiError::new(ErrorCode::BadRequest, format!("The request was interrupted: {error}."));
        let piece = piece.map_err(broken_off)?;
        pace.took(piece.len());
        if body.len() + piece.len() > most_bytes {
            pace.drain(payload).await;
            let message = format!("The request has more than {most_bytes} bytes, the limit for a {what}.");
            return Err(ApiError::new(ErrorCode::TooLarge, message));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

/// Maximum length of a parameter that an error message repeats, in characters.
const MOST_REPEATED: usize = 60;

/// Parses query parameters.
///
/// # Errors
///
/// Returns an error with the offending parameter if one is unknown, repeated, or has an invalid value.
pub(crate) fn parameters<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
    let read = |query: &str| Query::<T>::from_query(query);
    let error = match read(query) {
        Ok(parameters) => return Ok(parameters.into_inner()),
        Err(error) => error.to_string(),
    };
    // A parameter that is merely repeated is valid by itself; the error then names it.
    let wrong = query.split('&').find(|pair| read(pair).is_err()).unwrap_or(query);
    let wrong: String = wrong.chars().take(MOST_REPEATED).collect();
    let reason = error.strip_prefix("Query deserialize error: ").unwrap_or(&error);
    Err(ApiError::new(ErrorCode::BadRequest, format!("The parameter `{wrong}` is not valid: {reason}.")))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        limit: Option<u32>,
        before: Option<String>,
    }

    #[track_caller]
    fn check(query: &str, part: &str) {
        let error = parameters::<Wanted>(query).expect_err("a refusal").to_string();
        assert!(error.contains(part), "{error}");
    }

    #[test]
    fn the_wrong_one_is_named() {
        assert_eq!(parameters("before=x"), Ok(Wanted { limit: None, before: Some("x".to_owned()) }));
        check("before=x&limit=-1", "`limit=-1`");
        check("limt=1&before=x", "`limt=1`");
        check("limit=1&limit=2", "duplicate field `limit`");
        check(&format!("limit={}", "1".repeat(500)), &format!("`limit={}`", "1".repeat(MOST_REPEATED - 6)));
    }
}
