//! Prepares HTML documents for nested addresses, such as `/s/{token}`.
//!
//! The built page refers to its assets by relative addresses, so that it works in any folder of any host. At a nested
//! address these would be wrong, and the security policy forbids a `base` element. Therefore the addresses are made
//! absolute once, when the page is loaded.

use shared::base::markup::escaped;

use crate::serve::asset_file::Asset;

/// An HTML document of the built page for nested addresses.
pub(crate) struct Document {
    /// The document with its original head.
    pub(crate) asset: Asset,
    /// The parts before and after an inserted head, without title and description.
    around: [String; 2],
}

/// Metadata for the head of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// Title of the shown content.
    pub(crate) title: String,
    /// Summary of its figures.
    pub(crate) description: String,
    /// Metadata for link previews, such as those in chats.
    pub(crate) preview: Option<Preview>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Preview {
    pub(crate) page: String,
    pub(crate) picture: String,
    /// Width and height of the picture, in pixels.
    pub(crate) size: (u32, u32),
}

impl Document {
    /// Prepares a document at the top level of the built page.
    pub(super) fn new(html: &str) -> Self {
        let html = rooted(html);
        let (head, rest) = html.split_at(html.find("</head>").unwrap_or(html.len()));
        let head = without(&without(head, "<title>", "</title>"), "<meta name=\"description\"", ">");
        Self { around: [head, rest.to_owned()], asset: Asset::made("document.html", html) }
    }

    /// Returns the document with another title and description.
    pub(crate) fn with_head(&self, head: &Head) -> String {
        let [before, after] = &self.around;
        format!("{before}{}{after}", head.tags())
    }
}

impl Head {
    fn tags(&self) -> String {
        let (title, description) = (escaped(&self.title), escaped(&self.description));
        let mut tags = format!(
            "<title>{title} – Snapscope</title>\n<meta name=\"description\" content=\"{description}\">\n\
             <meta name=\"robots\" content=\"noindex\">\n"
        );
        let Some(Preview { page, picture, size: (width, height) }) = &self.preview else { return tags };
        for (name, content) in [
            ("og:type", "website"),
            ("og:site_name", "Snapscope"),
            ("og:title", &self.title),
            ("og:description", &self.description),
            ("og:url", page),
            ("og:image", picture),
            ("og:image:type", "image/png"),
            ("og:image:width", &width.to_string()),
            ("og:image:height", &height.to_string()),
            ("og:image:alt", &self.description),
        ] {
            tags += &format!("<meta property=\"{name}\" content=\"{}\">\n", escaped(content));
        }
        tags + "<meta name=\"twitter:card\" content=\"summary_large_image\">\n"
    }
}

/// Makes the relative addresses of a document absolute.
fn rooted(html: &str) -> String {
    let mut rooted = String::with_capacity(html.len() + 64);
    for (index, piece) in html.split('"').enumerate() {
        let is_address = rooted.ends_with(" href=") || rooted.ends_with(" src=");
        if index > 0 {
            rooted.push('"');
        }
        if is_address && is_relative(piece) {
            rooted.push('/');
            rooted.push_str(piece.trim_start_matches("./"));
        } else {
            rooted.push_str(piece);
        }
    }
    rooted
}

fn is_relative(address: &str) -> bool {
    let first = address.split(['/', '?', '#']).next().unwrap_or_default();
    !first.is_empty() && !first.contains(':')
}

/// Removes the first part from `start` to `end`, if there is one.
fn without(text: &str, start: &str, end: &str) -> String {
    let part = text.find(start).and_then(|from| Some((from, from + text[from..].find(end)? + end.len())));
    part.map_or_else(|| text.to_owned(), |(from, to)| [text[..from].trim_end(), &text[to..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<html><head>\n<meta name=\"description\" content=\"old\">\n<title>Old</title>\n\
        <link rel=\"icon\" href=\"assets/0/icon.svg\">\n</head><body></body></html>";

    #[test]
    fn relative_addresses_lead_from_the_top() {
        assert_eq!(rooted("<a href=\"x/y.js\">"), "<a href=\"/x/y.js\">");
        assert_eq!(rooted("<a src=\"./x\" href=\"/y\">"), "<a src=\"/x\" href=\"/y\">");
        for html in ["<a href=\"https://a/\">", "<a href=\"#top\" id=\"x\">x=\"</a>", "no quotes"] {
            assert_eq!(rooted(html), html);
        }
    }

    #[test]
    fn a_document_gets_a_head_of_its_own() {
        let head = Head { title: "a </title> \"b\"".into(), description: "1 GiB".into(), preview: None };
        let page = Document::new(PAGE).with_head(&head);
        assert!(page.contains("<title>a &lt;/title&gt; &quot;b&quot; – Snapscope</title>"), "{page}");
        assert!(page.contains("content=\"1 GiB\"") && page.contains("\"/assets/0/icon.svg\""), "{page}");
        assert!(!page.contains("old") && !page.contains("Old") && !page.contains("og:"), "{page}");
        assert!(page.ends_with("</head><body></body></html>"), "{page}");
        // A document without a head stays whole.
        let page = Document::new("<!doctype html>").with_head(&Head { title: "a".into(), ..head });
        assert!(page.starts_with("<!doctype html><title>a – "), "{page}");
    }
}
