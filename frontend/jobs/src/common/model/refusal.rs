//! Explains in words why a request to the server failed.

use frontend::platform::ApiError;
use shared::api::{ErrorBody, ErrorCode};
use shared::job::Problem;

/// Returns a sentence that says what happened, and one that says what to do.
pub(crate) fn refusal(error: &ApiError) -> [&str; 2] {
    match error {
        ApiError::NoServer => [
            "The server does not respond.",
            "Check that the server runs and that this machine can reach it. Nothing that was sent is lost.",
        ],
        ApiError::Refused(ErrorBody { message, hint, .. }) => [message, hint],
    }
}

/// Returns true if the server refused a request for lack of a valid token.
pub(crate) fn needs_token(error: &ApiError) -> bool {
    error.is(ErrorCode::Unauthorized)
}

/// Formats the place of a config problem: `Line 3:1 · batch`.
pub(crate) fn problem_place(problem: &Problem) -> String {
    let line = problem.place.map(|place| format!("Line {}:{}", place.line, place.column));
    let key = Some(problem.path.clone()).filter(|path| !path.is_empty());
    [line, key].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns the config problems that an error carries.
pub(crate) fn problems(error: &ApiError) -> Vec<Problem> {
    let ApiError::Refused(body) = error else { return Vec::new() };
    let place = |line: Option<u32>, column: Option<u32>| {
        Some(shared::job::Place { line: line? as usize, column: column.unwrap_or(1) as usize })
    };
    let problem = |problem: &shared::api::ProblemBody| Problem {
        path: problem.path.clone(),
        place: place(problem.line, problem.column),
        message: problem.message.clone(),
        hint: problem.hint.clone(),
    };
    body.problems.iter().map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::api::ProblemBody;

    fn refused(code: ErrorCode) -> ApiError {
        let problem = ProblemBody {
            path: "batch".to_owned(),
            line: Some(3),
            column: None,
            message: "0 is not between 1 and 65,536".to_owned(),
            hint: String::new(),
        };
        let body = ErrorBody {
            code: code.to_string(),
            message: "1 thing is wrong.".to_owned(),
            hint: "Mend it.".to_owned(),
            problems: vec![problem],
            request_id: None,
        };
        ApiError::Refused(body)
    }

    #[test]
    fn refusals_keep_the_servers_words() {
        let error = refused(ErrorCode::InvalidConfig);
        assert_eq!(refusal(&error), ["1 thing is wrong.", "Mend it."]);
        assert_eq!(problem_place(&problems(&error)[0]), "Line 3:1 · batch");
        assert!(problems(&ApiError::NoServer).is_empty());
    }

    #[test]
    fn only_a_missing_token_asks_for_one() {
        assert!(needs_token(&refused(ErrorCode::Unauthorized)));
        assert!(!needs_token(&refused(ErrorCode::Forbidden)) && !needs_token(&ApiError::NoServer));
    }
}
