//! Removes machines, accounts and people whose shape alone reveals them, apart from hosts and addresses.
//! Replaces what patterns find in texts.

use regex_lite::{Captures, Regex};
use std::sync::LazyLock;

/// Letters of the random parts in names of Kubernetes, which has no vowels there (`SafeEncodeString`).
const SAFE: &str = "2456789bcdfghjklmnpqrstvwxz";

/// What is looked for in all texts, with what takes its place; no place is taken twice.
static EVERYWHERE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let pod = format!(r"\b[a-z][a-z0-9-]*-[{SAFE}]{{6,10}}-[{SAFE}]{{5}}\b");
    [
        (r"\barn:aws[a-z-]*:[^*\s,;)]*[^*\s.,:;)]", "arn:*"),
        // Resources of EC2.
        (r"\b(?:i|vol|vpc|subnet|sg|ami|eni|snap)-[0-9a-z]{16,17}\b", "*"),
        // Projects of Google Cloud and machines of its clusters.
        (r"\bprojects/[^*/\s]+/(locations|zones|regions|global|instances|secrets)\b", "projects/*/$1"),
        (r"\bgke-[a-z0-9-]{6,}", "*"),
        // Machines as Windows calls them.
        (r"\b(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{5,}\b", "*"),
        (&pod, "*"),
        (r"\+\d{1,3}(?:[ -]\(?\d{2,4}\)?){2,5}\b", "*"),
    ]
    .map(|(pattern, place)| (regex(pattern), place))
    .into()
});

/// What is looked for in texts for people: lists of Slurm's nodes, people with their addresses, and passwords.
static IN_PROSE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"\b[a-z][a-z-]*\[\d{2,}(?:[,-]\d+)*\]", "*"),
        (r"(?:\b[A-Z][^\s<>,;:*]* ){1,3}<[^\s<>]+@[^\s<>]+>", "<*>"),
        (r"\b([A-Z_]*(?:PASSWORD|PASSWD|SECRET|API_?KEY|ACCESS_?KEY)) [^\s*]+", "$1 *"),
    ]
    .map(|(pattern, place)| (regex(pattern), place))
    .into()
});

/// Removes what the shapes of this module reveal.
pub(super) fn without_shapes(text: String, language: Language) -> String {
    let prose = IN_PROSE.iter().filter(|_| language == Language::Prose);
    EVERYWHERE.iter().chain(prose).fold(text, |text, (pattern, place)| {
        replaced(&text, pattern, |found| Some(place.replace("$1", found.get(1).map_or("", |part| part.as_str()))))
    })
}

/// Kind of a text, which decides what is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// Source lines and symbols: `a@b.t` is a multiplication, and `host=host` passes an argument.
    Code,
    /// Text written for people.
    Prose,
}

pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern")
}

/// Replaces each match for which `change` returns another text.
pub(super) fn replaced(text: &str, pattern: &Regex, change: impl Fn(&Captures<'_>) -> Option<String>) -> String {
    pattern.replace_all(text, |found: &Captures<'_>| change(found).unwrap_or_else(|| found[0].to_owned())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, clean: &str) {
        assert_eq!(without_shapes(text.to_owned(), Language::Prose), clean);
        assert_eq!(without_shapes(clean.to_owned(), Language::Prose), clean, "it is changed again");
    }

    #[test]
    fn resources_of_clouds_and_clusters_go() {
        check("as arn:aws:iam::123456789012:role/acme-train, ok", "as arn:*, ok");
        check("i-0abcd1234efgh5678 in projects/acme-prod-1234/locations/us", "* in projects/*/locations/us");
        check("gke-acme-prod-a100-pool-1a2b3c4d-xyz1 and DESKTOP-AB12CD3", "* and *");
        check("pod alice-llm-7f9c6d-x2k8p of node[01-08,11]", "pod * of *");
    }

    #[test]
    fn people_and_passwords_go() {
        check("by Bob Smith <bob.smith@acme.example>, +1 555 0100", "by <*>, *");
        check("PGPASSWORD hunter2 MAX_TOKENS 512", "PGPASSWORD * MAX_TOKENS 512");
    }

    #[test]
    fn words_of_trainings_stay() {
        for text in [
            "blocks[0-3]",
            "sg-step",
            "projects/src/model.py",
            "WIN-RATE",
            "step +1 200",
            "self-attn-qkv-proj",
            "<a@b>",
        ] {
            check(text, text);
        }
        assert_eq!(
            without_shapes("if PASSWORD in x[10]: pass".to_owned(), Language::Code),
            "if PASSWORD in x[10]: pass"
        );
    }
}
