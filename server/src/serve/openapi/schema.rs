//! Generates the tables of the document's types.

use serde_json::Value;

use super::page::{list, map, paragraphs, prose, row, table, text};
use shared::base::markup::escaped;

/// Prefix of references to types.
const TYPES: &str = "#/components/schemas/";

/// Generates a section for each type, and links to the sections.
pub(super) fn sections(schemas: &Value) -> (String, String) {
    let section = |(name, schema): (&str, &Value)| {
        let name = escaped(name);
        format!(
            "<article id=\"type-{name}\">\n<h3><code>{name}</code></h3>\n{}{}</article>\n",
            paragraphs(&schema["description"]),
            body(schema)
        )
    };
    let link = |(name, _): (&str, &Value)| format!("<li>{}</li>\n", link(name));
    (map(schemas).map(section).collect(), map(schemas).map(link).collect())
}

/// Describes a type in a few words.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(link) = reference(schema) {
        return link;
    }
    for (key, word) in [("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")] {
        if schema[key].is_array() {
            let parts: Vec<String> = list(&schema[key]).map(kind).collect();
            return parts.join(word);
        }
    }
    if schema["enum"].is_array() {
        return values(schema);
    }
    match &schema["type"] {
        Value::Array(types) => types.iter().map(|name| named(text(name), schema)).collect::<Vec<_>>().join(" or "),
        name => named(text(name), schema),
    }
}

/// Returns a link to the type that a schema refers to.
pub(super) fn reference(schema: &Value) -> Option<String> {
    text(&schema["$ref"]).strip_prefix(TYPES).map(link)
}

fn link(name: &str) -> String {
    let name = escaped(name);
    format!("<a href=\"#type-{name}\">{name}</a>")
}

fn named(name: &str, schema: &Value) -> String {
    match name {
        "array" => format!("list of {}", kind(&schema["items"])),
        "string" if schema["format"] == "binary" => "file".to_owned(),
        "string" => "text".to_owned(),
        name => escaped(name),
    }
}

/// Lists the values of an enumeration.
fn values(schema: &Value) -> String {
    let values: Vec<String> =
        list(&schema["enum"]).map(|value| format!("<code>{}</code>", escaped(text(value)))).collect();
    values.join(", ")
}

/// Describes the contents of a type.
fn body(schema: &Value) -> String {
    let parts: Vec<&Value> = ["allOf", "oneOf"].iter().flat_map(|key| list(&schema[*key])).collect();
    if !parts.is_empty() {
        return parts.into_iter().map(part).collect();
    }
    if schema["enum"].is_array() {
        return format!("<p>{}</p>\n", values(schema));
    }
    let is_required = |name: &str| list(&schema["required"]).any(|required| text(required) == name);
    let property = |(name, property): (&str, &Value)| {
        let required = if is_required(name) { "" } else { " <span class=\"note\">optional</span>" };
        row(
            &format!("<code>{}</code>", escaped(name)),
            &format!("{}{required}", kind(property)),
            &prose(&property["description"]),
        )
    };
    table("Fields", &map(&schema["properties"]).map(property).collect::<String>())
}

/// Describes one part of a combined type, or one of its alternatives.
fn part(schema: &Value) -> String {
    match reference(schema) {
        Some(link) => format!("<p>All fields of {link}</p>\n"),
        None => paragraphs(&schema["description"]) + &body(schema),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: &str) {
        assert_eq!(kind(schema), expected);
    }

    #[test]
    fn types_are_a_few_words() {
        check(&json!({"type": "string"}), "text");
        check(&json!({"type": ["integer", "null"], "format": "int64"}), "integer or null");
        check(
            &json!({"type": "array", "items": {"$ref": "#/components/schemas/A"}}),
            "list of <a href=\"#type-A\">A</a>",
        );
        check(&json!({"oneOf": [{"type": "null"}, {"type": "boolean"}]}), "null or boolean");
        check(&json!({"type": "string", "format": "binary"}), "file");
        check(&json!({"type": "string", "enum": ["a", "b"]}), "<code>a</code>, <code>b</code>");
    }
}
