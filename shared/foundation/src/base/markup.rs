//! Escapes text for HTML and SVG and recognises characters that deceive the eye.

/// Returns true for controls of the writing direction (after U+202E, `gpj.exe` looks like `exe.jpg`), and for
/// characters that show nothing or break lines, by which two names look the same.
///
/// The joiners U+200C and U+200D are not among them: scripts of India and Iran, and emoji, need them.
pub fn deceives(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Escapes text for HTML and XML, between tags or inside double quotes.
///
/// Characters that XML can't represent become U+FFFD, and so do those that [deceive](deceives): controls of the
/// direction would also affect the text after this one.
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
            acting if acting.is_control() || deceives(acting) => out.push('\u{fffd}'),
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
        assert_eq!(escaped("\u{200e}a\u{200f}b\u{61c}"), "\u{fffd}a\u{fffd}b\u{fffd}");
        assert_eq!(escaped("pay\u{200b}pal\u{feff}\u{2028}\u{e0041}"), "pay\u{fffd}pal\u{fffd}\u{fffd}\u{fffd}");
        // Right-to-left text does not need these controls.
        assert_eq!(escaped("דליפה ü"), "דליפה ü");
    }
}
