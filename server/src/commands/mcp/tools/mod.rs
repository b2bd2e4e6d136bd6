//! What the tools answer: reports that commands print as well, each with the next useful questions.

mod looking;
mod making;

pub(super) use looking::{allocations, diff, findings, open, peak, replay, summary};
pub(super) use making::{fit, fix, run};

/// Writes a question as a call of a tool with the reason for it.
fn question(tool: &str, parameters: &serde_json::Value, reason: &str) -> String {
    let fields = parameters.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let given: serde_json::Map<_, _> = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    format!("{tool} {}: {reason}", serde_json::Value::Object(given))
}
