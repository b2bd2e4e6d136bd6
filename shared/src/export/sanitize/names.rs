//! Taking the names of people and machines out of texts.

/// What stands in place of a name: no name is shorter, so that no text grows.
const REPLACEMENT: char = '*';

/// The shortest name that is looked for: shorter ones are in every text.
const MIN_CHARS: usize = 3;

/// Accounts that many have, and words that stacks are made of: nobody is known by them.
const NOBODY: &[&str] = &[
    "aten",
    "admin",
    "all",
    "app",
    "autograd",
    "azureuser",
    "backward",
    "bin",
    "build",
    "code",
    "colab",
    "common",
    "conda",
    "content",
    "cpp",
    "cuda",
    "data",
    "default",
    "dist",
    "dll",
    "docker",
    "ec2-user",
    "forward",
    "functorch",
    "guest",
    "home",
    "homes",
    "hpp",
    "ipykernel",
    "ipython",
    "jovyan",
    "jupyter",
    "lib",
    "main",
    "model",
    "models",
    "module",
    "nobody",
    "numpy",
    "operator",
    "opt",
    "packages",
    "phase",
    "project",
    "projects",
    "pyenv",
    "python",
    "pyx",
    "root",
    "runner",
    "sagemaker-user",
    "scratch",
    "shared",
    "site",
    "src",
    "step",
    "tmp",
    "torch",
    "torch_xla",
    "torchinductor",
    "train",
    "triton",
    "ubuntu",
    "user",
    "users",
    "vscode",
    "work",
    "workspace",
];

/// Names that must not be in a copy.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    all: Vec<String>,
}

impl Names {
    /// Adds a name that was found in a path, unless it says nothing about anybody.
    pub(super) fn add_found(&mut self, name: &str) {
        let is_number = name.chars().all(|c| c.is_ascii_digit());
        if !is_number && !NOBODY.iter().any(|word| word.eq_ignore_ascii_case(name)) {
            self.add(name);
        }
    }

    /// Adds a name that a person asked for.
    pub(super) fn add(&mut self, name: &str) {
        let name = name.trim();
        if name.chars().count() >= MIN_CHARS && !self.all.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            self.all.push(name.to_owned());
        }
    }

    /// The names, the longest first: one may be a part of another.
    pub(super) fn into_sorted(mut self) -> Vec<String> {
        self.all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.all
    }
}

/// The text without any of the names as a word of its own, in any case of letters; `None` where it has none.
pub(super) fn without_names(text: &str, names: &[String]) -> Option<String> {
    names.iter().fold(None, |clean: Option<String>, name| without(clean.as_deref().unwrap_or(text), name).or(clean))
}

fn without(text: &str, name: &str) -> Option<String> {
    let mut clean = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        if is_word_at(text, at, name) {
            clean.push_str(&text[from..at]);
            clean.push(REPLACEMENT);
            at += name.len();
            from = at;
        } else {
            at += c.len_utf8();
        }
    }
    (from > 0).then(|| clean + &text[from..])
}

fn is_word_at(text: &str, at: usize, name: &str) -> bool {
    let end = at + name.len();
    text.get(at..end).is_some_and(|part| part.eq_ignore_ascii_case(name))
        && !text[..at].ends_with(char::is_alphanumeric)
        && !text[end..].starts_with(char::is_alphanumeric)
}

/// The text without accounts on machines, such as `ada@gpu-17`; `None` where it has none.
///
/// A machine is told from other words by a digit, a dash or a dot in it.
pub(super) fn without_accounts(text: &str) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    let mut clean = String::new();
    let mut from = 0;
    for (at, _) in text.match_indices('@') {
        let start = text[..at]
            .rfind(|c| !is_word(c))
            .map_or(0, |end| end + text[end..].chars().next().map_or(1, char::len_utf8));
        let end = text[at + 1..].find(|c| !is_word(c)).map_or(text.len(), |length| at + 1 + length);
        let host = &text[at + 1..end];
        let is_machine =
            host.contains(char::is_alphabetic) && host.contains(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
        if start >= from && start < at && is_machine {
            clean.push_str(&text[from..start]);
            clean.push_str("*@*");
            from = end;
        }
    }
    (from > 0).then(|| clean + &text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, names: &[&str], clean: &str) {
        let mut list = Names::default();
        names.iter().for_each(|name| list.add(name));
        assert_eq!(without_names(text, &list.into_sorted()).as_deref().unwrap_or(text), clean);
    }

    #[test]
    fn a_name_goes_wherever_it_is_a_word() {
        check("ada's run, ADA_2 and lada", &["ada"], "*'s run, *_2 and lada");
        check("ada-ada/ada", &["ada"], "*-*/*");
        check("é ada é", &["ada"], "é * é");
        check("Ada Byron and ada", &["ada", "Ada Byron"], "* and *");
        check("nothing", &["ada"], "nothing");
        check("ab", &["ab"], "ab");
    }

    #[test]
    fn words_of_every_stack_are_no_names() {
        let mut names = Names::default();
        ["torch", "Root", "1000", "ada", "ADA"].iter().for_each(|name| names.add_found(name));
        assert_eq!(names.into_sorted(), ["ada"]);
    }

    #[test]
    fn accounts_on_machines_go() {
        let clean = |text: &str| without_accounts(text).unwrap_or_else(|| text.to_owned());
        assert_eq!(clean("run of ada@gpu-17: ok"), "run of *@*: ok");
        assert_eq!(clean("ada.b@mail.org,bob@n1"), "*@*,*@*");
        assert_eq!(clean("x @ y, step@forward, @torch.no_grad"), "x @ y, step@forward, @torch.no_grad");
        assert_eq!(clean("über@h-1"), "*@*");
    }
}
