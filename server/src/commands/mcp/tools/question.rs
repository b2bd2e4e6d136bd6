//! The next useful question.

/// Writes a question as a call of a tool with the reason for it.
pub(super) fn question(tool: &str, parameters: &serde_json::Value, reason: &str) -> String {
    let fields = parameters.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let given: serde_json::Map<_, _> = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    format!("{tool} {}: {reason}", serde_json::Value::Object(given))
}
