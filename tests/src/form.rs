//! Builds multipart forms with files, both as browsers send them and as none does.

use serde_json::json;

/// Text between the parts, which occurs in no part.
const BOUNDARY: &str = "a-boundary-that-is-in-no-part";

/// Body of type `multipart/form-data`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form(Vec<u8>);

impl Form {
    /// Returns the `Content-Type` header value of [`Form::finish`].
    pub fn content_type() -> String {
        format!("multipart/form-data; boundary={BOUNDARY}")
    }

    /// Returns an upload that creates a shared link.
    pub fn share(snapshot: &[u8]) -> Self {
        let view = json!({"title": "a run", "view_state": "v1;device=0", "days": 7}).to_string();
        Self::default().part("view", view.as_bytes()).file("snapshot", "run.pickle.gz", snapshot)
    }

    pub fn part(self, name: &str, content: &[u8]) -> Self {
        self.with(format!("name=\"{name}\"").as_bytes(), content)
    }

    /// Adds a file; its name is sent without escaping.
    pub fn file(self, name: &str, file_name: impl AsRef<[u8]>, content: &[u8]) -> Self {
        let start = format!("name=\"{name}\"; filename=\"");
        self.with(&[start.as_bytes(), file_name.as_ref(), b"\""].concat(), content)
    }

    fn with(mut self, disposition: &[u8], content: &[u8]) -> Self {
        let line = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; ");
        for piece in [line.as_bytes(), disposition, b"\r\n\r\n", content, b"\r\n"] {
            self.0.extend_from_slice(piece);
        }
        self
    }

    pub fn finish(self) -> Vec<u8> {
        [self.0, format!("--{BOUNDARY}--\r\n").into_bytes()].concat()
    }
}
