//! Provides the ID of a request for its response, its log lines and its error body.

use std::fmt;

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

/// Header that carries the ID in requests and responses.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Maximum length of an ID from outside.
const LONGEST: usize = 64;

tokio::task_local! {
    /// ID of the request that this task handles.
    pub(super) static CURRENT: RequestId;
}

/// ID of a request.
///
/// Invariant: it consists of letters, digits, `-`, `_` and `.` only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId(String);

impl RequestId {
    /// Returns the ID that a proxy assigned to the request, or a new one.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(HEADER).and_then(|value| value.to_str().ok()).filter(|value| is_sane(value));
        Self(given.map_or_else(|| Uuid::now_v7().simple().to_string(), str::to_owned))
    }

    /// Returns the ID of the current request, or `None` outside of requests.
    pub(crate) fn current() -> Option<String> {
        CURRENT.try_with(|id| id.0.clone()).ok()
    }

    pub(super) fn value(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).expect("the letters of a header")
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns true if an ID from outside can be logged unchanged.
fn is_sane(name: &str) -> bool {
    let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b"-_.".contains(&letter);
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_outside_are_taken_where_they_are_sane() {
        let too_long = "01234567890123456789012345678901234567890123456789012345678901234";
        for (given, is_taken) in [
            ("0198f3a4-77aa-7d2e", true),
            ("a.b_c", true),
            ("", false),
            ("two words", false),
            ("a\"b", false),
            (too_long, false),
        ] {
            let headers = HeaderMap::from_iter([(HEADER, HeaderValue::from_static(given))]);
            assert_eq!(RequestId::of(&headers).to_string() == given, is_taken, "{given:?}");
        }
        let none = HeaderMap::new();
        assert_ne!(RequestId::of(&none), RequestId::of(&none), "new names differ");
    }
}
