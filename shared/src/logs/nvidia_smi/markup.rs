//! Splits XML that arrives line by line into tags and the text before them.
//!
//! It knows comments, CDATA, declarations and entities. Broken XML is read as far as it makes sense: a tag that does not
//! end gives way to the next one.

/// Longest tag and longest text that are kept, in bytes.
const LONGEST_BYTES: usize = 4096;

/// Splitter, and what it has of the tag or text that the last line left open.
#[derive(Debug, Default)]
pub(super) struct Markup {
    within: Within,
    /// Quotation mark of the attribute's value that is open.
    quote: Option<char>,
    tag: String,
    text: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Text,
    Tag,
    Comment,
    CData,
    /// Such as `<?xml …>` and `<!DOCTYPE …>`.
    Declaration,
}

/// Tag with what belongs to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Name and attributes of an element that begins.
    Start(String, String),
    /// Name of an element that ends, and the text since the tag before.
    End(String, String),
}

impl Markup {
    /// Returns true if a tag, a comment or the like is open.
    pub(super) fn is_in_tag(&self) -> bool {
        self.within != Within::Text
    }

    /// Returns the next tag of a line and what follows it; `None` at the end of the line.
    ///
    /// An element without content, such as `<processes/>`, is no event.
    pub(super) fn next<'a>(&mut self, mut line: &'a str) -> Option<(Event, &'a str)> {
        loop {
            match self.within {
                Within::Text => {
                    let Some(at) = line.find('<') else {
                        self.add_text(&(unescaped(line) + "\n"));
                        return None;
                    };
                    self.add_text(&unescaped(&line[..at]));
                    line = self.open(&line[at..]);
                }
                Within::Comment => line = self.close(line, "-->")?,
                Within::Declaration => line = self.close(line, ">")?,
                Within::CData => {
                    self.add_text(line.split("]]>").next().unwrap_or_default());
                    line = self.close(line, "]]>")?;
                }
                Within::Tag => {
                    let at = self.tag_end(line)?;
                    let is_whole = line[at..].starts_with('>');
                    self.within = Within::Text;
                    line = if is_whole { &line[at + 1..] } else { &line[at..] };
                    if let Some(event) = is_whole.then(|| self.event()).flatten() {
                        return Some((event, line));
                    }
                }
            }
        }
    }

    /// Chooses by the text behind `<` what begins, and returns what follows.
    fn open<'a>(&mut self, line: &'a str) -> &'a str {
        const FORMS: [(&str, Within); 5] = [
            ("<!--", Within::Comment),
            ("<![CDATA[", Within::CData),
            ("<!", Within::Declaration),
            ("<?", Within::Declaration),
            ("<", Within::Tag),
        ];
        self.tag.clear();
        self.quote = None;
        let form = FORMS.iter().find(|(words, _)| line.starts_with(words));
        let (words, within) = form.copied().unwrap_or(("", Within::Text));
        self.within = within;
        &line[words.len()..]
    }

    /// Returns what follows the end of a comment or the like; `None` if it does not end in the line.
    fn close<'a>(&mut self, line: &'a str, end: &str) -> Option<&'a str> {
        let at = line.find(end)?;
        self.within = Within::Text;
        Some(&line[at + end.len()..])
    }

    /// Adds to the tag and returns the position of the `>` that ends it, or of the `<` that shows that it broke off.
    fn tag_end(&mut self, line: &str) -> Option<usize> {
        for (at, letter) in line.char_indices() {
            match (letter, self.quote) {
                ('<', _) | ('>', None) => return Some(at),
                ('"' | '\'', None) => self.quote = Some(letter),
                (_, Some(quote)) if letter == quote => self.quote = None,
                _ => {}
            }
            if self.tag.len() < LONGEST_BYTES {
                self.tag.push(letter);
            }
        }
        self.tag.push(' ');
        None
    }

    fn event(&mut self) -> Option<Event> {
        let text = std::mem::take(&mut self.text);
        let tag = std::mem::take(&mut self.tag);
        if let Some(name) = tag.strip_prefix('/') {
            return Some(Event::End(name.trim().to_owned(), text.trim().to_owned()));
        }
        let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((&tag, ""));
        (!name.is_empty() && !tag.ends_with('/')).then(|| Event::Start(name.to_owned(), attributes.to_owned()))
    }

    fn add_text(&mut self, text: &str) {
        let room = LONGEST_BYTES.saturating_sub(self.text.len());
        self.text.extend(text.chars().take(room / 4));
    }
}

/// Returns the value of an attribute, such as `id="00000000:81:00.0"`.
pub(super) fn attribute<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = attributes.split_once(name)?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    rest[1..].split_once(quote).map(|(value, _)| value)
}

/// Replaces entities; those that XML does not define stay as they are.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(';').and_then(|(name, rest)| Some((entity(name)?, rest))) {
            Some((letter, rest)) => {
                out.push(letter);
                out += rest;
            }
            None => {
                out.push('&');
                out += part;
            }
        }
    }
    out
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let of_hex = number.strip_prefix('x').map(|digits| u32::from_str_radix(digits, 16));
            char::from_u32(of_hex.unwrap_or_else(|| number.parse()).ok()?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str) -> Vec<String> {
        let (mut markup, mut events) = (Markup::default(), Vec::new());
        for mut line in text.lines() {
            while let Some((event, rest)) = markup.next(line) {
                events.push(match event {
                    Event::Start(name, attributes) => format!("{name} {attributes}").trim_end().to_owned(),
                    Event::End(name, text) => format!("{text}/{name}"),
                });
                line = rest;
            }
        }
        events
    }

    #[test]
    fn tags_have_text_and_attributes() {
        assert_eq!(events("<a id=\"1\"><b>2 MiB</b>\n\t</a>"), ["a id=\"1\"", "b", "2 MiB/b", "/a"]);
        assert_eq!(events("<a\n  id='>'\n>x\ny</a >"), ["a   id='>'", "x\ny/a"]);
        assert_eq!(attribute(" id = '0:1' x=\"2\"", "id"), Some("0:1"));
        assert_eq!([attribute("", "id"), attribute("id", "id"), attribute("id=7", "id")], [None; 3]);
    }

    #[test]
    fn what_is_no_tag_does_not_break_it() {
        assert_eq!(events("<?xml version=\"1.0\" ?>\n<!DOCTYPE a SYSTEM \"b.dtd\">\n<a>1</a>"), ["a", "1/a"]);
        assert_eq!(events("<a>1<!-- <b>2\n</a> -->3</a>"), ["a", "13/a"]);
        assert_eq!(events("<a><![CDATA[<b> & ]] ]]>&amp;&lt;&#65;&#x42;&x;&</a>"), ["a", "<b> & ]] &<AB&x;&/a"]);
        assert_eq!(events("<a><b/></a>"), ["a", "/a"]);
    }

    #[test]
    fn a_tag_that_breaks_off_gives_way() {
        assert_eq!(events("<a><b>1</b><c id=\"4\n<a><b>2</b></a>"), ["a", "b", "1/b", "a", "b", "2/b", "/a"]);
        assert_eq!(events("<"), [""; 0]);
    }
}
