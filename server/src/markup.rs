//! Text inside HTML and SVG.

/// A text as HTML and XML have it, between tags and inside double quotes.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_text_early() {
        assert_eq!(escaped("a & \"b\" </title>"), "a &amp; &quot;b&quot; &lt;/title&gt;");
    }
}
