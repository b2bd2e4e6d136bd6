//! Reads requests for a job in each of their forms.

use actix_multipart::MultipartError;
use actix_multipart::form::bytes::Bytes as FormBytes;
use actix_multipart::form::text::Text;
use actix_multipart::form::{MultipartForm, MultipartFormConfig};
use actix_web::error::PayloadError;
use actix_web::web::{Bytes, BytesMut, Payload};
use actix_web::{FromRequest as _, HttpMessage as _, HttpRequest};
use futures_util::StreamExt as _;
use serde::Deserialize;
use shared::api::{ErrorCode, JobChange, JobRequest, JobTask};
use shared::base::markup::turns_direction;
use utoipa::{IntoParams, ToSchema};

use crate::serve::error::ApiError;
use crate::serve::pace::Pace;
use crate::serve::query::parameters;

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

/// A form with files.
#[derive(MultipartForm, ToSchema)]
#[multipart(deny_unknown_fields, duplicate_field = "deny")]
pub(crate) struct JobForm {
    /// Training config in TOML, YAML or JSON, or Hugging Face's `config.json`.
    #[schema(value_type = String, format = Binary)]
    config: FormBytes,
    /// `TrainingArguments` for a Hugging Face config, in JSON or YAML.
    #[schema(value_type = Option<String>, format = Binary)]
    training_args: Option<FormBytes>,
    /// Virtual GPUs that replace those of the config.
    #[schema(value_type = Option<String>)]
    card: Option<Text<String>>,
    /// Real GPU that replaces the virtual GPUs of the config.
    #[schema(value_type = Option<String>)]
    device: Option<Text<String>>,
    /// Optimizer steps that replace those of the config.
    #[schema(value_type = Option<u64>)]
    steps: Option<Text<u64>>,
    /// Samples per micro-batch that replace those of the config.
    #[schema(value_type = Option<u64>)]
    batch: Option<Text<u64>>,
    /// Tokens per sample that replace those of the config.
    #[schema(value_type = Option<u64>)]
    sequence: Option<Text<u64>>,
    /// Priority from 0 to 9; higher priorities run first.
    #[schema(value_type = Option<u8>)]
    priority: Option<Text<u8>>,
    /// What to do with the config; one recording if it is left out.
    #[schema(value_type = Option<JobTask>)]
    task: Option<Text<JobTask>>,
}

/// Returns the size limits of forms.
pub(crate) fn form_limits() -> MultipartFormConfig {
    MultipartFormConfig::default().total_limit(MOST_REQUEST_BYTES).memory_limit(MOST_REQUEST_BYTES)
}

/// Reads a request from JSON, from a form with files, or from a bare config.
pub(super) async fn read(request: &HttpRequest, payload: Payload) -> Result<JobRequest, ApiError> {
    if request.content_type() == mime::MULTIPART_FORM_DATA.essence_str() {
        let mut payload = payload.into_inner();
        let form = Pace::new().wait(MultipartForm::<JobForm>::from_request(request, &mut payload)).await?;
        return of_form(form.map_err(|error| body_error(&error))?.into_inner());
    }
    let bytes = read_body(payload, MOST_REQUEST_BYTES, "config").await?;
    let text = utf8(bytes.to_vec())?;
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
    if name.is_empty() || name.chars().count() > most || name.chars().any(|c| c.is_control() || turns_direction(c)) {
        return Err(bad(format!("A name must be one line of 1 to {most} characters.")));
    }
    Ok(JobChange { name })
}

fn of_form(form: JobForm) -> Result<JobRequest, ApiError> {
    Ok(JobRequest {
        file_name: form.config.file_name,
        config: utf8(form.config.data.to_vec())?,
        training_args: form.training_args.map(|file| utf8(file.data.to_vec())).transpose()?,
        card: form.card.map(Text::into_inner),
        device: form.device.map(Text::into_inner),
        steps: form.steps.map(Text::into_inner),
        batch: form.batch.map(Text::into_inner),
        sequence: form.sequence.map(Text::into_inner),
        priority: form.priority.map(Text::into_inner),
        task: form.task.map(Text::into_inner),
    })
}

/// Reads a body and counts its bytes, because the declared length cannot be trusted.
pub(crate) async fn read_body(mut payload: Payload, most_bytes: usize, what: &str) -> Result<Bytes, ApiError> {
    let mut body = BytesMut::new();
    let mut pace = Pace::new();
    while let Some(piece) = pace.wait(payload.next()).await? {
        let piece = piece.map_err(|error| broken_off(&error))?;
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

fn utf8(bytes: Vec<u8>) -> Result<String, ApiError> {
    String::from_utf8(bytes).map_err(|_| {
        ApiError::new(ErrorCode::BadRequest, "The config is not text; it must be TOML, YAML or JSON in UTF-8.")
    })
}

fn body_error(error: &actix_web::Error) -> ApiError {
    match error.as_error() {
        Some(MultipartError::Field { source, .. }) if source.as_error::<MultipartError>().is_some() => {
            body_error(source)
        }
        Some(MultipartError::Payload(PayloadError::Overflow)) => {
            let message = format!("The form has more than {MOST_REQUEST_BYTES} bytes, the limit for a config.");
            ApiError::new(ErrorCode::TooLarge, message)
        }
        Some(MultipartError::Payload(error)) => broken_off(error),
        _ => ApiError::new(ErrorCode::BadRequest, format!("The form can't be read: {error}.")),
    }
}

fn broken_off(error: &PayloadError) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, format!("The request was interrupted: {error}."))
}
