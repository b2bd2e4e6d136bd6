//! Formats that a table can be written in.

/// Format of a table's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TableFormat {
    /// RFC 4180: a header line, commas, CRLF, and quotes around texts that need them.
    #[default]
    Csv,
    /// One document, `{"file", "table", "rows": [{…}]}`.
    Json,
    /// A table of GitHub's Markdown, for issues and reports.
    Markdown,
}

crate::names!(TableFormat {
    Csv => "csv",
    Json => "json",
    Markdown => "markdown",
});

impl TableFormat {
    /// Returns the ending of file names, without the dot.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Markdown => "md",
        }
    }

    /// Returns the name on buttons.
    pub fn label(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Markdown => "Markdown",
        }
    }

    /// Returns the media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv;charset=utf-8",
            Self::Json => "application/json",
            Self::Markdown => "text/markdown;charset=utf-8",
        }
    }
}
