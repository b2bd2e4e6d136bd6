//! Generates the API page: operations by tag, followed by the types.

use serde_json::{Map, Value};

use super::schema;
use shared::base::markup::escaped;

/// Generates the page of an OpenAPI document.
pub(super) fn html(document: &Value) -> String {
    let info = &document["info"];
    let tags = list(&document["tags"]);
    let operations = operations(document);
    let mut contents = String::new();
    let mut sections = String::new();
    for tag in tags {
        let name = text(&tag["name"]);
        let of_tag: Vec<_> = operations.iter().filter(|operation| operation.has_tag(name)).collect();
        contents += &format!("<h2>{}</h2>\n<ul>\n", escaped(name));
        of_tag.iter().for_each(|operation| contents += &format!("<li>{}</li>\n", operation.link()));
        contents += "</ul>\n";
        sections += &format!("<section>\n<h2>{}</h2>\n<p>{}</p>\n", escaped(name), prose(&tag["description"]));
        of_tag.iter().for_each(|operation| sections += &operation.section());
        sections += "</section>\n";
    }
    let (types, type_names) = schema::sections(&document["components"]["schemas"]);
    contents += &format!("<h2>types</h2>\n<ul>\n{type_names}</ul>\n");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>API – Snapscope</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/api/v1/docs.css\">\n</head>\n<body>\n\
         <header><a class=\"name\" href=\"/\">Snapscope</a><span>API {}</span>\
         <a href=\"/api/v1/openapi.json\">openapi.json</a></header>\n\
         <div class=\"columns\">\n<nav aria-label=\"Contents\">\n{contents}</nav>\n<main>\n<h1>API</h1>\n{}\
         {}{sections}<section>\n<h2>types</h2>\n{types}</section>\n</main>\n</div>\n</body>\n</html>\n",
        escaped(text(&info["version"])),
        paragraphs(&info["description"]),
        tokens(&document["components"]["securitySchemes"]),
    )
}

/// An operation with its method and path.
struct Operation<'a> {
    method: String,
    path: &'a str,
    body: &'a Value,
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let items = map(&document["paths"]);
    let of_item =
        |(path, item)| map(item).map(move |(method, body)| Operation { method: method.to_uppercase(), path, body });
    items.flat_map(of_item).collect()
}

impl Operation<'_> {
    fn has_tag(&self, name: &str) -> bool {
        list(&self.body["tags"]).any(|tag| text(tag) == name)
    }

    fn heading(&self) -> String {
        let (method, path) = (&self.method, escaped(self.path));
        format!("<code><b class=\"{}\">{method}</b> {path}</code>", method.to_lowercase())
    }

    fn link(&self) -> String {
        format!("<a href=\"#{}\">{}</a>", escaped(text(&self.body["operationId"])), self.heading())
    }

    fn section(&self) -> String {
        let body = self.body;
        let mut section = format!("<article id=\"{}\">\n<h3>{}", escaped(text(&body["operationId"])), self.heading());
        if list(&body["security"]).any(|scheme| map(scheme).next().is_some()) {
            section += " <span class=\"note\">token</span>";
        }
        section += &format!("</h3>\n<p>{}</p>\n{}", prose(&body["summary"]), paragraphs(&body["description"]));
        let parameters: String = list(&body["parameters"]).map(parameter).collect();
        section += &table("Parameters", &parameters);
        let contents: String = map(&body["requestBody"]["content"]).map(content).collect();
        section += &table("Request body", &contents);
        section += &table("Responses", &map(&body["responses"]).map(response).collect::<String>());
        section + "</article>\n"
    }
}

fn parameter(parameter: &Value) -> String {
    let kind = schema::kind(&parameter["schema"]);
    let required = if parameter["required"] == true { " <span class=\"note\">required</span>" } else { "" };
    row(
        &format!("<code>{}</code>", escaped(text(&parameter["name"]))),
        &format!("{}, in the {}{required}", kind.trim_end_matches(" or null"), escaped(text(&parameter["in"]))),
        &prose(&parameter["description"]),
    )
}

fn content((media_type, content): (&str, &Value)) -> String {
    let schema = &content["schema"];
    row(&format!("<code>{}</code>", escaped(media_type)), &schema::kind(schema), "")
}

fn response((status, response): (&str, &Value)) -> String {
    let kinds: Vec<String> = map(&response["content"])
        .map(|(media_type, content)| match schema::reference(&content["schema"]) {
            Some(link) => link,
            None => format!("<code>{}</code>", escaped(media_type)),
        })
        .collect();
    row(&format!("<code>{status}</code>"), &kinds.join(", "), &prose(&response["description"]))
}

fn tokens(schemes: &Value) -> String {
    let row_of = |(name, scheme): (&str, &Value)| {
        row(
            &format!("<code>{}</code>", escaped(name)),
            "<code>Authorization: Bearer</code>",
            &prose(&scheme["description"]),
        )
    };
    table("Tokens", &map(schemes).map(row_of).collect::<String>())
}

/// Generates a table with a caption; empty if it has no rows.
pub(super) fn table(title: &str, rows: &str) -> String {
    if rows.is_empty() {
        return String::new();
    }
    format!("<div class=\"table\"><table>\n<caption>{title}</caption>\n{rows}</table></div>\n")
}

/// Generates a row of three cells, the first of which is its header.
pub(super) fn row(name: &str, kind: &str, meaning: &str) -> String {
    format!("<tr><th scope=\"row\">{name}</th><td>{kind}</td><td>{meaning}</td></tr>\n")
}

/// Formats a sentence of a doc comment; text between backticks becomes code.
pub(super) fn prose(sentence: &Value) -> String {
    let piece = |(index, piece): (usize, &str)| {
        if index % 2 == 1 { format!("<code>{}</code>", escaped(piece)) } else { escaped(piece) }
    };
    text(sentence).split('`').enumerate().map(piece).collect()
}

/// Formats the paragraphs of a doc comment.
pub(super) fn paragraphs(description: &Value) -> String {
    let parts = text(description).split("\n\n").filter(|part| !part.is_empty());
    parts.map(|part| format!("<p>{}</p>\n", prose(&Value::from(part)))).collect()
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn map(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter).map(|(key, value)| (key.as_str(), value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_becomes_a_page() {
        let document = json!({
            "info": {"version": "1.0.0", "description": "One.\n\nTwo."},
            "tags": [{"name": "jobs", "description": "Recordings"}],
            "paths": {"/a/{id}": {"get": {
                "operationId": "get_a", "tags": ["jobs"], "summary": "An `a`, not <b>.",
                "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
                "responses": {"200": {"description": "It.", "content": {"application/json": {
                    "schema": {"$ref": "#/components/schemas/A"}}}}},
            }}},
            "components": {"schemas": {"A": {"type": "object", "properties": {}}}},
        });
        let page = html(&document);
        for part in [
            "<p>One.</p>\n<p>Two.</p>",
            "<article id=\"get_a\">",
            "<a href=\"#get_a\"><code><b class=\"get\">GET</b> /a/{id}</code></a>",
            "An <code>a</code>, not &lt;b&gt;.",
            "<a href=\"#type-A\">A</a>",
            "<article id=\"type-A\">",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
    }
}
