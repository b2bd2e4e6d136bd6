//! Removes hosts, addresses, machines, accounts, people and keys from texts, as far as their shape alone reveals them.
//!
//! ```text
//! step on gpu-node-17.corp.internal      → step on *
//! load s3://acme/ada/x.pt                → load s3://*
//! git@git.acme.org:ada/repo.git          → *@*
//! USER=ada                               → USER=*
//! ```
//!
//! Names that paths reveal are the task of [`names`](super::names).
//! No text grows, and a clean text is left as it is.

use super::hosts::{is_address, is_domain, is_host_word};
use regex_lite::{Captures, Regex};
use std::sync::LazyLock;

/// Values of settings that, like numbers, identify nobody.
const PLAIN_VALUES: [&str; 5] = ["none", "null", "true", "false", "*"];

/// Words in the names of settings whose value is a secret.
const SECRET_WORDS: [&str; 8] = ["token", "secret", "password", "passwd", "pwd", "apikey", "credential", "credentials"];

/// Words in the names of settings whose value names a person or a machine.
const OWNER_WORDS: [&str; 19] = [
    "user", "username", "logname", "login", "owner", "author", "account", "entity", "customer", "email", "mail",
    "home", "host", "hostname", "nodename", "nodelist", "machine", "addr", "address",
];

/// Pattern of keys, by their prefixes.
const KEYS: &str = r"\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_\-]{16,}|(?:AKIA|ASIA)[0-9A-Z]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|gl[a-z]{2,5}-[A-Za-z0-9_\-]{16,}|xox[a-z]-[A-Za-z0-9\-]{8,}|AIza[A-Za-z0-9_\-]{20,}|ya29\.[A-Za-z0-9_\-]{8,}|(?:npm|r8|gsk|dckr_pat|dapi|pypi|nvapi|SG)[_.\-]?[A-Za-z0-9_.\-]{24,}|eyJ[A-Za-z0-9_\-]{6,}(?:\.[A-Za-z0-9_\-]*){0,2})";

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| regex(r#"([A-Za-z][A-Za-z0-9+.\-]*)://([^\s"'`<>|]+)"#));
/// Name of a setting, the separator, its value, and the text directly after closing quotes.
///
/// That text is matched because it would be taken for the value once the quotes are gone.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"([A-Za-z0-9_.\-]+)(["']? ?[=:] ?)("[^"]*"|'[^']*'|[^\s,;&"'()\[\]{}]+)[^\s,;&"'()\[\]{}]*"#)
});
/// Person in front of an address, as in `Ada Byron <ada@…>`.
static MAILED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"((?:[A-Z][^\s<>,;:*]* ){0,2}[A-Z][^\s<>,;:*]*) <[^\s<>]+@[^\s<>]+>"));
static WORDS: LazyLock<Regex> = LazyLock::new(|| regex(r"\[?[0-9A-Za-z_:.%\-]+\]?(?::\d+)?"));

/// Removes hosts, addresses, accounts and keys from a text; `None` if it contains none.
pub(super) fn without_secrets(text: &str, language: Language) -> Option<String> {
    let mut clean = replaced(text, &ADDRESS, |found| {
        // A local file is treated as a path elsewhere.
        let is_local = found[1].eq_ignore_ascii_case("file") && found[2].starts_with('/');
        (!is_local && &found[2] != "*").then(|| format!("{}://*", &found[1]))
    });
    clean = without_shapes(clean, language);
    clean = without_accounts(&clean, language).unwrap_or(clean);
    if language == Language::Prose {
        clean = replaced(&clean, &VALUE, |found| {
            value_kind(&found[1], &found[3]).map(|_| format!("{}{}*", &found[1], &found[2]))
        });
    }
    // What is left of a word may be an address of its own: `10.0.3.7:1ff::45` has two.
    loop {
        let next = replaced(&clean, &WORDS, |found| without_host(&found[0], language));
        if next == clean {
            break;
        }
        clean = next;
    }
    clean = without_random(&clean).unwrap_or(clean);
    (clean != text).then_some(clean)
}

/// Returns true if the value of a setting is a secret, or names somebody.
pub(super) fn is_private(key: &str, value: &str) -> bool {
    value_kind(key, value).is_some()
}

/// Returns the people and machines in settings such as `USER=ada`, and the machines that are known by their shape.
pub(super) fn names(text: &str) -> Vec<String> {
    let owners = VALUE.captures_iter(text).filter(|found| value_kind(&found[1], &found[3]) == Some(Value::Owner));
    let owners = owners.map(|found| found[3].trim_matches(['"', '\'']).to_owned());
    let people = MAILED.captures_iter(text).map(|found| found[1].to_owned());
    let hosts = WORDS.find_iter(text).filter_map(|word| {
        let (_, word, _) = trimmed(word.as_str());
        let first = word.split('.').next().unwrap_or_default();
        let is_named = first.contains(|c: char| c.is_ascii_digit()) && first.contains(char::is_alphabetic);
        (is_domain(word) && is_named).then(|| first.to_owned())
    });
    // Paths and addresses are not names; the names in them are found elsewhere.
    owners.filter(|name| !name.contains(['/', '\\', ':'])).chain(people).chain(hosts).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Owner,
    Secret,
}

/// Classifies the value of a setting; `None` if it reveals nothing.
fn value_kind(key: &str, value: &str) -> Option<Value> {
    let value = value.trim_matches(['"', '\'']);
    let is_plain = value.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))
        || PLAIN_VALUES.iter().any(|plain| plain.eq_ignore_ascii_case(value));
    let lower = key.to_ascii_lowercase();
    let has = |words: &[&str]| lower.split(['_', '-', '.']).any(|word| words.contains(&word));
    match is_plain {
        true => None,
        false if has(&SECRET_WORDS) || lower.contains("api_key") || lower.contains("access_key") => Some(Value::Secret),
        false => has(&OWNER_WORDS).then_some(Value::Owner),
    }
}

/// Splits a word into the marks before it, the word itself and the marks after it.
fn trimmed(word: &str) -> (&str, &str, &str) {
    let start = word.len() - word.trim_start_matches(['.', ':', '-', '_']).len();
    let rest = word[start..].trim_end_matches(['.', ':', '-', '_']);
    (&word[..start], rest, &word[start + rest.len()..])
}

/// Replaces the hosts and addresses in a word; `None` if it contains none.
fn without_host(word: &str, language: Language) -> Option<String> {
    let is_host = |word: &str| is_domain(word) || language == Language::Prose && is_host_word(word);
    // This comes before trimming, because an IPv6 address may begin with colons.
    if is_address(word) {
        return Some("*".to_owned());
    }
    let (before, inner, behind) = trimmed(word);
    // In `gpu-17:29500` a port follows the host; in `host:gpu-17` a name precedes it.
    let clean: Vec<&str> =
        inner.split(':').map(|part| if is_host(part) || is_address(part) { "*" } else { part }).collect();
    let clean = if is_address(inner) { "*".to_owned() } else { clean.join(":") };
    (clean != inner).then(|| format!("{before}{clean}{behind}"))
}

/// Removes accounts on machines, such as `ada@gpu-17` or `git@host:ada/repo`; `None` if there are none.
///
/// In prose, a digit, a dash or a dot in its name or a path after it reveals a machine; in code, its last label does.
fn without_accounts(text: &str, language: Language) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '%');
    let mut clean = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices('@') {
        let start = text[..at]
            .rfind(|c| !is_word(c))
            .map_or(0, |end| end + text[end..].chars().next().map_or(1, char::len_utf8));
        let end = text[at + 1..].find(|c| !is_word(c)).map_or(text.len(), |length| at + 1 + length);
        let host = text[at + 1..end].trim_end_matches('.');
        let end = at + 1 + host.len();
        let path = text[end..].strip_prefix(':').map_or(0, |rest| {
            let length = rest.find(|c: char| c.is_whitespace() || "\"'`,;)<>".contains(c)).unwrap_or(rest.len());
            if length == 0 { 0 } else { length + 1 }
        });
        let is_machine = match language {
            Language::Code => is_domain(host),
            Language::Prose => {
                let has_mark = host.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
                host.contains(char::is_alphabetic) && (has_mark || path > 0)
            }
        };
        if start >= from && start < at && is_machine {
            clean.push_str(&text[from..start]);
            clean.push_str("*@*");
            from = end + path;
        }
    }
    (from > 0).then(|| clean + &text[from..])
}

/// Removes words that look random: long hexadecimal numbers, and mixtures of upper case, lower case and digits.
fn without_random(text: &str) -> Option<String> {
    // Some keys contain slashes; a length of 40 distinguishes them from paths.
    let clean = without_words(
        text,
        |c| c.is_ascii_alphanumeric() || matches!(c, '/' | '+'),
        |word| word.len() == 40 && switches(word) >= 10 && !word.contains("//"),
    );
    without_words(clean.as_deref().unwrap_or(text), |c| c.is_ascii_alphanumeric(), is_random).or(clean)
}

/// Replaces the words for which `is_out` returns true; `None` if there are none.
fn without_words(text: &str, is_inside: fn(char) -> bool, is_out: impl Fn(&str) -> bool) -> Option<String> {
    let mut clean = String::new();
    let mut from = 0;
    let mut start = 0;
    let ends = text.match_indices(|c| !is_inside(c)).map(|(at, mark)| (at, at + mark.len()));
    for (end, next) in ends.chain([(text.len(), text.len())]) {
        if is_out(&text[start..end]) {
            clean.push_str(&text[from..start]);
            clean.push('*');
            from = end;
        }
        start = next;
    }
    (from > 0).then(|| clean + &text[from..])
}

fn is_random(word: &str) -> bool {
    let is_hex = word.len() >= 32 && word.bytes().all(|c| c.is_ascii_hexdigit());
    let numbers = word.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty()).count();
    // `_ZN2at6native…` is a mangled symbol of C++; `NativeLayerNormBackward0` consists of words.
    let is_mixed = word.len() >= 24 && switches(word) * 5 >= word.len() * 2 && numbers >= 2;
    is_hex || is_mixed && !word.starts_with("ZN")
}

/// Counts the changes between lower case, upper case and digits in a word; 0 if one of the three is missing.
fn switches(word: &str) -> usize {
    let class = |c: u8| (c.is_ascii_lowercase(), c.is_ascii_uppercase(), c.is_ascii_digit());
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    let has_all = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    if has_all { word.as_bytes().windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count() } else { 0 }
}

/// Letters of the random parts in names of Kubernetes, which has no vowels there (`SafeEncodeString`).
const SAFE: &str = "2456789bcdfghjklmnpqrstvwxz";

/// What is looked for in all texts, with what takes its place; no place is taken twice.
static EVERYWHERE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let pod = format!(r"\b[a-z][a-z0-9-]*-[{SAFE}]{{6,10}}-[{SAFE}]{{5}}\b");
    [
        (r"(?i)\b(bearer) +[A-Za-z0-9._~+/=\-]{6,}", "$1 *"),
        (KEYS, "*"),
        (r"\b(?:[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5})\b", "*"),
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

fn without_shapes(text: String, language: Language) -> String {
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
        assert_eq!(without_secrets(text, Language::Prose).as_deref().unwrap_or(text), clean);
        assert_eq!(without_secrets(clean, Language::Prose), None, "{clean} is changed again");
    }

    #[test]
    fn accounts_on_machines_go() {
        check("run of ada@gpu-17: ok", "run of *@*: ok");
        check("ada.b@mail.org,bob@n1", "*@*,*@*");
        check("git@git.acme.org:ada/repo.git and git@hub:x/y", "*@* and *@*");
        check("x @ y, step@forward, @torch.no_grad", "x @ y, step@forward, @torch.no_grad");
        check("über@h-1", "*@*");
    }

    #[test]
    fn addresses_go_with_what_they_lead_to() {
        check("https://wandb.corp/ada/run, s3://b/x", "https://* s3://*");
        check("file:///home/ada/x.py", "file:///home/ada/x.py");
        check("tcp://10.0.3.7:29500", "tcp://*");
        check("to 10.0.3.7:29500 or fe80::17, [2001:db8::1]:80", "to * or *, *");
        check("aa:bb:cc:dd:ee:0f", "*");
        check("10.1.2.3:2345::1ff:fe23:45", "*:*");
    }

    #[test]
    fn settings_lose_what_names_somebody() {
        check("USER=ada HOME=/fsx/ada n=3", "USER=* HOME=* n=3");
        check("{'user': 'ada', 'bs': 8}", "{'user': *, 'bs': 8}");
        check("host=\"gpu17\"3, user='ada'", "host=*, user=*");
        check("author: Ada, tokens=512, WANDB_API_KEY='x y'", "author: *, tokens=512, WANDB_API_KEY=*");
        assert_eq!(names("USER=ada on gpu-17.corp.com, HOST=/x"), ["ada", "gpu-17"]);
        assert_eq!(names("run of Bob Smith <b@acme.example>"), ["Bob Smith"]);
    }

    #[test]
    fn source_is_no_prose() {
        for text in ["x = q@k.transpose(1, 2)", "f(host=host, user=user)", "node17 = g(node17)", "self.net.to(x)"] {
            assert_eq!(without_secrets(text, Language::Code), None, "{text}");
        }
        let key = "login('hf_AbCdEfGhIjKlMnOpQrStUvWx')";
        assert_eq!(without_secrets(key, Language::Code).as_deref(), Some("login('*')"));
    }

    #[test]
    fn keys_go_by_what_they_look_like() {
        check("aws wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws *");
        check("Zm9vYmFyQmF6UXV4MTIzNDU2", "*");
        check("commit 0123456789abcdef0123456789abcdef01234567", "commit *");
    }

    #[test]
    fn symbols_are_no_keys() {
        for text in [
            "bwd NativeLayerNormBackward0",
            "models/GPT2/layers/Attention/forward/block",
            "c10::add",
            "void cutlass::Kernel2<cutlass_80_s16816gemm_f16_256x128_32x3_nn_align8>(Params)",
        ] {
            check(text, text);
        }
    }

    #[track_caller]
    fn check_shape(text: &str, clean: &str) {
        assert_eq!(without_shapes(text.to_owned(), Language::Prose), clean);
        assert_eq!(without_shapes(clean.to_owned(), Language::Prose), clean, "it is changed again");
    }

    #[test]
    fn resources_of_clouds_and_clusters_go() {
        check_shape("as arn:aws:iam::123456789012:role/acme-train, ok", "as arn:*, ok");
        check_shape("i-0abcd1234efgh5678 in projects/acme-prod-1234/locations/us", "* in projects/*/locations/us");
        check_shape("gke-acme-prod-a100-pool-1a2b3c4d-xyz1 and DESKTOP-AB12CD3", "* and *");
        check_shape("pod alice-llm-7f9c6d-x2k8p of node[01-08,11]", "pod * of *");
    }

    #[test]
    fn people_and_passwords_go() {
        check_shape("by Bob Smith <bob.smith@acme.example>, +1 555 0100", "by <*>, *");
        check_shape("PGPASSWORD hunter2 MAX_TOKENS 512", "PGPASSWORD * MAX_TOKENS 512");
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
            check_shape(text, text);
        }
        assert_eq!(
            without_shapes("if PASSWORD in x[10]: pass".to_owned(), Language::Code),
            "if PASSWORD in x[10]: pass"
        );
    }
}
