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

use super::hosts::{is_address, is_domain, is_host_word, is_served, may_be_host};
use regex_lite::{Captures, Regex};
use std::ops::Range;
use std::sync::LazyLock;

/// Values of settings that, like numbers, identify nobody.
pub(super) const PLAIN_VALUES: [&str; 7] = ["none", "null", "true", "false", "native", "cudaMallocAsync", "*"];

/// Letters in the names of settings whose value is a secret, wherever they are: `PGPASSWORD`, `X-Api-Key`, `dbPassword`.
const SECRETS: [&str; 9] =
    ["password", "passwd", "passphrase", "secret", "credential", "apikey", "accesskey", "privatekey", "accountkey"];

/// Letters that end the names of secrets; elsewhere they name other things, as in `token_type_ids` and `author`.
const SECRET_ENDS: [&str; 5] = ["token", "cookie", "auth", "authorization", "pwd"];

/// Ends of the names of secrets in upper case; a `forward_pass` or a `primary_key` is none.
const SECRET_VARIABLES: [&str; 3] = ["_KEY", "_PASS", "_PAT"];

/// Words in the names of settings whose value names a person or a machine.
const OWNER_WORDS: [&str; 19] = [
    "user", "username", "logname", "login", "owner", "author", "account", "entity", "customer", "email", "mail",
    "home", "host", "hostname", "nodename", "nodelist", "machine", "addr", "address",
];

/// Pattern of keys, by their prefixes.
const KEYS: &str = r"\b(?:hf_[A-Za-z0-9]{16,}|[prs]k_(?:live|test)_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_\-]{16,}|(?:AKIA|ASIA)[0-9A-Z]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|gl[a-z]{2,5}-[A-Za-z0-9_\-]{16,}|(?:xox[a-z]|xapp)-[A-Za-z0-9\-]{8,}|AIza[A-Za-z0-9_\-]{20,}|ya29\.[A-Za-z0-9_\-]{8,}|(?:npm|r8|gsk|dckr_pat|dapi|pypi|nvapi|SG)[_.\-]?[A-Za-z0-9_.\-]{24,}|eyJ[A-Za-z0-9_\-]{6,}(?:\.[A-Za-z0-9_\-]*){0,2})";

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| regex(r#"([A-Za-z][A-Za-z0-9+.\-]*)://([^\s"'`<>|]+)"#));
/// Name of a setting, the separator, its value, and the text directly after closing quotes.
///
/// That text is matched because it would be taken for the value once the quotes are gone.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"([A-Za-z0-9_.\-]+)(["']?[ \t]*[=:]+>?[ \t]*\(?|[ \t]+)("[^"]*"|'[^']*'|["']?[^\s,;&"'()\[\]{}]+)[^\s,;&"'()\[\]{}]*"#,
    )
});
/// Person of several words, or in front of an address: `Author: Ada Byron`, `Ada <ada@…>`.
static PEOPLE: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"(?:[A-Z][^\s<>,;:*]* ){0,2}[A-Z][^\s<>,;:*]*";
    regex(&format!(r"(?i:author|owner): ?({name})|({name}) <[^\s<>]+@[^\s<>]+>"))
});
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
        for (_, value, end) in revealing(&clean).into_iter().rev() {
            clean.replace_range(value.start..end, "*");
        }
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

/// Returns the people and machines in settings such as `USER=ada`, and the machines that are known by their shape.
pub(super) fn names(text: &str) -> Vec<String> {
    let owners = revealing(text).into_iter().filter(|(kind, ..)| *kind == Value::Owner);
    let owners = owners.map(|(_, value, _)| text[value].trim_matches(['"', '\'']).to_owned());
    let people =
        PEOPLE.captures_iter(text).filter_map(|found| Some(found.get(1).or(found.get(2))?.as_str().to_owned()));
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

/// Returns the values in a text that reveal something, each with the end of what is directly after it.
fn revealing(text: &str) -> Vec<(Value, Range<usize>, usize)> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(found) = VALUE.captures_at(text, at) {
        let (Some(whole), Some(value)) = (found.get(0), found.get(3)) else { break };
        // A value that reveals nothing may be a setting of its own: `env: USER=ada`.
        at = value.start();
        if let Some(kind) = value_kind(&found[1], &found[2], &found[3]) {
            at = whole.end();
            all.push((kind, value.range(), at));
        }
    }
    all
}

/// Classifies the value of a setting; `None` if it reveals nothing.
///
/// Without a sign before its value, only a flag or a variable in upper case is a setting: `--token x`, `HF_TOKEN x`.
fn value_kind(key: &str, sign: &str, value: &str) -> Option<Value> {
    let value = value.trim_matches(['"', '\'']);
    let is_plain = PLAIN_VALUES.iter().any(|plain| plain.eq_ignore_ascii_case(value));
    let is_upper = !key.contains(|c: char| c.is_ascii_lowercase());
    let is_flag = key.starts_with('-');
    let has_sign = !sign.trim().is_empty();
    if is_plain || !has_sign && (value.starts_with('-') || !is_flag && !is_upper) {
        return None;
    }
    let is_number = value.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    let lower = key.to_ascii_lowercase();
    let letters: String = lower.chars().filter(char::is_ascii_alphabetic).collect();
    let is_owner = |word: &str| OWNER_WORDS.iter().any(|&own| own == word || is_upper && word.ends_with(own));
    // `-u` is an account for many programs, but Python takes no value with it: `python -u train.py`.
    let is_account = || value.ends_with(|c: char| c.is_ascii_digit()) && value.chars().all(char::is_alphanumeric);
    match () {
        () if SECRETS.iter().any(|word| letters.contains(word)) => Some(Value::Secret),
        () if is_number => None,
        () if SECRET_ENDS.iter().any(|word| letters.ends_with(word)) => Some(Value::Secret),
        () if SECRET_VARIABLES.iter().any(|word| key.ends_with(word)) => Some(Value::Secret),
        () if key == "-u" => is_account().then_some(Value::Owner),
        () => ((has_sign || is_flag) && lower.split(['_', '-', '.']).any(is_owner)).then_some(Value::Owner),
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
    let is_served = language == Language::Prose && is_served(inner);
    let is_out = |part: &str| is_host(part) || is_address(part) || is_served && part.starts_with(char::is_alphabetic);
    let clean: Vec<&str> = inner.split(':').map(|part| if is_out(part) { "*" } else { part }).collect();
    let clean = if is_address(inner) { "*".to_owned() } else { clean.join(":") };
    (clean != inner).then(|| format!("{before}{clean}{behind}"))
}

/// Removes accounts on machines, such as `ada@gpu-17` or `git@host:ada/repo`; `None` if there are none.
///
/// In prose, a digit, a dash or a dot in its name, a path after it or a rank before it reveals a machine; in code, its
/// last label does.
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
                let is_rank = text[start..at].strip_prefix("rank").is_some_and(|n| n.parse::<u32>().is_ok());
                host.contains(char::is_alphabetic) && (has_mark || path > 0 || is_rank && may_be_host(host))
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
        (r"(?s)-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|$)", "*"),
        (r"(?i)\b(bearer) +[A-Za-z0-9._~+/=\-]{6,}", "$1 *"),
        (r"\b(Basic) +(?:[A-Za-z0-9+/]{5,}={1,2}|[A-Za-z0-9+/]{24,})", "$1 *"),
        (r"\b(ssh-[a-z0-9]+|ecdsa-[a-z0-9-]+) +AAAA[A-Za-z0-9+/=]+(?: [^\s@,;]+@[^\s@,;]+)?", "$1 *"),
        (KEYS, "*"),
        (r"\b(?:[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5})\b", "*"),
        (r"\barn:aws[a-z-]*:[^*\s,;)]*[^*\s.,:;)]", "arn:*"),
        (r"\bocid1\.[A-Za-z0-9._-]*[A-Za-z0-9]", "*"),
        // Accounts of registries and hubs.
        (
            r#"\b((?:docker|ghcr|gcr|nvcr|quay)\.io|(?:github|gitlab)\.com|huggingface\.co|wandb\.ai)/[^\s"'`<>|,;)*]+"#,
            "$1/*",
        ),
        // Resources of EC2.
        (r"\b(?:i|vol|vpc|subnet|sg|ami|eni|snap)-[0-9a-z]{16,17}\b", "*"),
        // Projects of Google Cloud and machines of its clusters.
        (r"\bprojects/[^*/\s]+/(locations|zones|regions|global|instances|secrets)\b", "projects/*/$1"),
        (r"\bgke-[a-z0-9-]{6,}", "*"),
        // Machines as Windows calls them.
        (r"\b(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{5,}\b", "*"),
        (&pod, "*"),
        (r"\+\d{1,3}(?:[ -]\(?\d{2,4}\)?){2,5}\b|(?:\(\d{3}\) ?|\b\d{3}-)\d{3}-\d{4}\b", "*"),
    ]
    .map(|(pattern, place)| (regex(pattern), place))
    .into()
});

/// What is looked for in texts for people: nodes of Slurm and of racks, people with their addresses, accounts, headers.
static IN_PROSE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"\b[a-z][a-z-]*\[\d{2,}(?:[,-]\d+)*\]", "*"),
        (r"(?:\b[A-Z][^\s<>,;:*]* ){1,3}<[^\s<>]+@[^\s<>]+>", "<*>"),
        (r"\b(?:x\d+c\d+s\d+b\d+(?:n\d+)?|r\d+i\d+n\d+|[a-z]{2}\d{2}r\d+b\d+)\b", "*"),
        (r"\b((?:[ug]id|groups)=\d+)\([^()*]+\)", "$1(*)"),
        (r#"(?i)\b((?:authorization|cookie)["']?: ?)[^\s"'*=][^"'\n]*"#, "$1*"),
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
        check("env: PGUSER=ada, --mail-user ada, mysql -u ada7", "env: PGUSER=*, --mail-user *, mysql -u *");
        assert_eq!(names("run of Bob Smith <b@acme.example>"), ["Bob Smith"]);
        assert_eq!(names("Author: Jane Doe"), ["Jane", "Jane Doe"]);
    }

    #[test]
    fn secrets_go_by_the_names_of_their_settings() {
        for key in [
            "PGPASSWORD",
            "MYSQL_PWD",
            "DBPASSWORD",
            "dbPassword",
            "DB_PASSWORD_2",
            "accessToken",
            "authToken",
            "DB_PASS",
            "GITHUB_PAT",
            "OPENAI_KEY",
            "PRIVATE_KEY",
            "AWS_ACCESS_KEY_ID",
            "passphrase",
            "AccountKey",
            "AUTH",
            "cookie",
            "X-Api-Key",
        ] {
            for sign in ["=", ": ", "  =  ", "=(", ":=", " => "] {
                check(&format!("run: {key}{sign}'x1"), &format!("run: {key}{sign}*"));
            }
        }
        for key in ["PGPASSWORD", "HF_TOKEN", "MYSQL_PWD", "--token", "--api-key", "--passphrase", "--hfToken"] {
            check(&format!("run {key} x1 y"), &format!("run {key} * y"));
        }
        check("password=123456 Authorization: Basic abc", "password=* Authorization: *");
        check("Set-Cookie: a=b; c=d", "Set-Cookie: *");
    }

    #[test]
    fn settings_of_trainings_stay() {
        for text in [
            "max_tokens=512, pad_token_id=0, num_tokens: 5, cls_token=1, tokens: many",
            "token_type_ids: x, tokenizer=gpt2, token_embedding: wte, cookie_count=x",
            "key=value, keys=[a], primary_key=id, cache_key: x, key-size 3",
            "forward_pass=fused, PASS: first, compass=x",
            "authentic=x, an author of a token",
            "password x, --max-tokens 512, --tokenizer x, --token --verbose, MAX_TOKENS 512, MODEL x",
            "python -u train2.py, sort -u",
            "gpu7 gpu0 cuda:0 rank0 conv1 layer12 relu6 float32 int8 sm90 resnet50 vit_b16 m16n8k16",
            "line:123 file.py:1234 dim:4096 step:29500 rank0@gpu",
        ] {
            check(text, text);
        }
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
        let long = "AbCdEfGhIjKlMnOpQrStUvWx1234";
        for start in ["sk_live_", "xapp-1-", "SG.", "dckr_pat_", "AIza", "nvapi-", "eyJhbGciOi.", "ocid1.user.oc1.."] {
            check(&format!("by {start}{long}"), "by *");
        }
        check("Basic dXNlcjpwYXNzMQ== Basic ResNet", "Basic * Basic ResNet");
        check("ssh-ed25519 AAAAC3Nz ada@spark, ssh-rsa AAAAB3Nz", "ssh-ed25519 *, ssh-rsa *");
        check("a -----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY----- b", "a * b");
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
        check_shape("on x1000c0s0b0n0, r12i3n5 and as01r1b02", "on *, * and *");
        check_shape("docker.io/acme/img:1, pull ghcr.io/acme", "docker.io/*, pull ghcr.io/*");
        check("nodo-17 lrdn0123 frontier04321 spark:29500 rank0@spark", "* * * *:29500 *@*");
    }

    #[test]
    fn people_go() {
        check_shape("by Bob Smith <bob.smith@acme.example>, +1 555 0100", "by <*>, *");
        check_shape("uid=1001(ada) gid=100(acme), (555) 555-0100", "uid=1001(*) gid=100(*), *");
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
