//! Text inside HTML and SVG.

/// A text as HTML and XML have it, between tags and inside double quotes; what XML has no form for is replaced.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' | '\n' | '\r' => out.push(letter),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_text_early() {
        assert_eq!(escaped("a & \"b\" </title>"), "a &amp; &quot;b&quot; &lt;/title&gt;");
        assert_eq!(escaped("it's\0\u{1b}"), "it&#39;s\u{fffd}\u{fffd}");
    }
}
