//! Builds an HTML page piece by piece.

use crate::base::markup::escaped;
use crate::export::subject::Subject;
use crate::trace::StackId;

/// Maximum number of frames to show for a stack; the others are only counted.
const MOST_FRAMES: usize = 60;

/// Part of a page; texts from a snapshot are added through methods that escape them.
#[derive(Default)]
pub(crate) struct Html {
    text: String,
}

impl Html {
    /// Appends markup as it is.
    pub(crate) fn push(&mut self, markup: &str) {
        self.text += markup;
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// Appends a section with a heading, unless `fill` adds nothing.
    pub(crate) fn section(&mut self, heading: &str, fill: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        fill(&mut inner);
        if !inner.text.is_empty() {
            self.text += &format!("<section>\n<h2>{}</h2>\n{}</section>\n", escaped(heading), inner.text);
        }
    }

    /// Appends a paragraph, in which text between backticks is code.
    pub(crate) fn paragraph(&mut self, class: &str, text: &str) {
        self.text += &format!("<p class=\"{class}\">{}</p>\n", prose(text));
    }

    /// Appends a list; `tag` is `ol` or `ul`.
    pub(crate) fn items(&mut self, tag: &str, class: &str, items: &[impl AsRef<str>]) {
        let items: String = items.iter().map(|item| format!("<li>{}</li>\n", prose(item.as_ref()))).collect();
        self.text += &format!("<{tag} class=\"{class}\">\n{items}</{tag}>\n");
    }

    /// Appends a part that is collapsed at first; text between backticks in its summary is code.
    pub(crate) fn details(&mut self, summary: &str, fill: impl FnOnce(&mut Self)) {
        self.text += &format!("<details><summary>{}</summary>\n", prose(summary));
        fill(self);
        self.text += "</details>\n";
    }

    /// Appends figures side by side, each value above its name.
    pub(crate) fn figures(&mut self, figures: &[(String, String)]) {
        self.text += "<dl class=\"figures\">";
        for (value, name) in figures {
            self.text += &format!("<div><dd>{}</dd><dt>{}</dt></div>", escaped(value), escaped(name));
        }
        self.text += "</dl>\n";
    }

    /// Appends a table; `right` lists the columns of numbers, and a row of one cell is a heading of those below it.
    pub(crate) fn table(&mut self, columns: &[&str], right: &[usize], rows: &[Vec<String>]) {
        let class = |column: usize| if right.contains(&column) { " class=\"number\"" } else { "" };
        let line = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
            let cell = |(column, text)| format!("<{tag}{}>{}</{tag}>", class(column), escaped(text));
            format!("<tr>{}</tr>\n", cells.enumerate().map(cell).collect::<String>())
        };
        let head = line("th", &mut columns.iter().copied());
        let row = |row: &Vec<String>| match row.as_slice() {
            [heading] if columns.len() > 1 => {
                format!("<tr><th colspan=\"{}\">{}</th></tr>\n", columns.len(), escaped(heading))
            }
            cells => line("td", &mut cells.iter().map(String::as_str)),
        };
        let body: String = rows.iter().map(row).collect();
        self.text +=
            &format!("<div class=\"table\"><table>\n<thead>{head}</thead>\n<tbody>{body}</tbody></table></div>\n");
    }

    /// Appends a bar; `share` is its length relative to the width, `0.0..=1.0`.
    pub(crate) fn bar(&mut self, share: f64) {
        let width = (share * 100.0).clamp(0.4, 100.0);
        self.text += &format!(
            "<svg class=\"bar\" height=\"6\" aria-hidden=\"true\"><rect width=\"100%\" height=\"6\" rx=\"3\" class=\"rail\"/>\
             <rect width=\"{width:.1}%\" height=\"6\" rx=\"3\"/></svg>"
        );
    }

    /// Appends the frames of a stack, collapsed at first, or nothing for a stack without frames.
    pub(crate) fn stack(&mut self, subject: &Subject<'_>, stack: StackId, summary: &str) {
        let frames: Vec<_> = subject.frames(stack).collect();
        if frames.is_empty() {
            return;
        }
        let shown = frames.len().min(MOST_FRAMES);
        self.text += &format!("<details><summary>{}</summary><ol class=\"stack\">", escaped(summary));
        for (name, filename, line) in &frames[..shown] {
            let place = match (*filename, line) {
                ("", _) => String::new(),
                (filename, 0) => format!(" <span>{}</span>", escaped(filename)),
                (filename, line) => format!(" <span>{}:{line}</span>", escaped(filename)),
            };
            self.text += &format!("<li><code>{}</code>{place}</li>", escaped(name));
        }
        if shown < frames.len() {
            self.text += &format!("<li>and {} more</li>", frames.len() - shown);
        }
        self.text += "</ol></details>\n";
    }
}

/// Escapes a text and marks text between backticks as code.
fn prose(text: &str) -> String {
    let parts = text.split('`').collect::<Vec<_>>();
    // With an odd number of backticks, none of them marks code.
    let is_paired = parts.len() % 2 == 1;
    if !is_paired {
        return escaped(text);
    }
    let part = |(index, part): (usize, &&str)| match index % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_stands_between_backticks() {
        assert_eq!(prose("run `a<b` now"), "run <code>a&lt;b</code> now");
        assert_eq!(prose("one ` only"), "one ` only");
    }

    #[test]
    fn an_empty_section_is_left_out() {
        let mut page = Html::default();
        page.section("Nothing", |_| ());
        assert_eq!(page.finish(), "");
    }
}
