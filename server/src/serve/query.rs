//! Parses the query parameters of a request.

use actix_web::web::Query;
use serde::de::DeserializeOwned;
use shared::api::ErrorCode;

use crate::serve::error::ApiError;

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
