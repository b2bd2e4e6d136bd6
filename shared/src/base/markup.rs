//! Text inside HTML and SVG, and letters that change how others are read.

/// Whether a letter turns the direction in which others are written: `gpj.exe` looks like `exe.jpg` after one.
pub fn turns_direction(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text as HTML and XML have it, between tags and inside double quotes.
///
/// What XML has no form for is replaced, and so are letters that turn the direction of writing: what stands behind the
/// text would be turned as well.
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
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            acting if acting.is_control() || turns_direction(acting) => out.push('\u{fffd}'),
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
        assert_eq!(escaped("a\u{202e}gpj.exe\u{2066}"), "a\u{fffd}gpj.exe\u{fffd}");
        // Words that are written from right to left need none of these.
        assert_eq!(escaped("דליפה ü"), "דליפה ü");
    }
}
