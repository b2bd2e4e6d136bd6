//! Keeps what comes nearest to memory in a text of which no line is understood.

/// The line that names memory, and what the text is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nearest {
    line: String,
    rank: Rank,
    names_engine: bool,
    /// True if a line about memory means that of the machine.
    names_host: bool,
    /// Number of lines so far.
    lines: usize,
}

/// What a line says, as far as words tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    #[default]
    Nothing,
    Memory,
    /// That memory is short or grows.
    Trouble,
}

const ENGINES: [&str; 8] =
    ["vllm", "vLLM", "sglang", "SGLang", "llama.cpp", "llama-server", "ollama", "text-generation"];

const TROUBLE: [&str; 13] = [
    "out of memory",
    "leak",
    "grow",
    "increas",
    "kill",
    "exhaust",
    "alloc",
    "full",
    "fail",
    "exceed",
    "insufficient",
    "not enough",
    "crash",
];

const HOST: [&str; 8] =
    ["system memory", "host memory", "cpu memory", "main memory", "shared memory", "/dev/shm", "swap", "rss"];

const LONGEST_SENTENCE: usize = 1000;

/// Lines in which an engine is looked for.
const LINES_OF_NAMES: usize = 4096;

impl Nearest {
    /// Sees a line that is not understood; of those that say as much, the first is kept.
    pub(super) fn see(&mut self, line: &str) {
        // Long logs are not searched to their end.
        self.lines = self.lines.saturating_add(1);
        if self.lines <= LINES_OF_NAMES && !self.names_engine {
            self.names_engine = ENGINES.iter().any(|name| line.contains(name));
        }
        if self.rank == Rank::Trouble {
            return;
        }
        let rank = Rank::of(line);
        self.names_host |= rank > Rank::Nothing && is_of_host(&line.to_lowercase());
        if rank > self.rank {
            let mut sentences = line.trim().split_inclusive(". ").map(str::trim);
            let sentence = sentences.find(|sentence| Rank::of(sentence) == rank).unwrap_or(line.trim());
            (self.line, self.rank) = (shortened(sentence), rank);
        }
    }

    /// Says that no line is understood as one about memory, and what to do.
    pub fn told(&self) -> (String, String) {
        let line = self.line.to_lowercase();
        let is_of_gpu = ["gpu memory", "gpu ram"].iter().any(|words| line.contains(words));
        let is_of_host = !is_of_gpu && (is_of_host(&line) || self.names_host && !line.contains("cuda"));
        let (message, hint) = match self.rank {
            Rank::Nothing => (
                "No line about memory was found in this text".to_owned(),
                "Open what has one: an error with its figures, a table of torch.cuda.memory_summary(), output of \
                 nvidia-smi, or rows of ps aux in a loop.",
            ),
            _ => (
                format!("No line about memory is understood; the nearest is “{}”", self.line),
                match (is_of_host, self.names_engine) {
                    (true, _) => {
                        "Which process takes the machine's memory is in rows of ps aux or free from a loop, or in what \
                         `snapscope host -o host.csv -- COMMAND` writes: open that."
                    }
                    (false, true) => {
                        "Add the engine's log from its start, with what it says of weights and KV cache, and the whole \
                         error."
                    }
                    _ if ["grow", "leak", "increas"].iter().any(|word| line.contains(word)) => {
                        "Whether tensors or PyTorch's cache grow is in what torch.cuda.memory_allocated() and \
                         torch.cuda.memory_reserved() print after each epoch: open that, or a snapshot."
                    }
                    (false, false) => {
                        "Add the lines around it: the whole error with its figures and its traceback, or what \
                         torch.cuda.memory_summary() prints at that moment."
                    }
                },
            ),
        };
        (message, hint.to_owned())
    }
}

impl Rank {
    fn of(line: &str) -> Self {
        // Most lines have none of these letters.
        if !["emory", "EMORY", "oom", "OOM", "RAM"].iter().any(|part| line.contains(part)) {
            return Self::Nothing;
        }
        // Names of functions are in tracebacks of any error.
        let code = line.trim_start();
        if code.contains(" import ") || code.starts_with("import ") || code.starts_with("File \"") {
            return Self::Nothing;
        }
        let line = line.to_lowercase();
        let is_oom = has_word(&line, "oom");
        if !is_oom && !line.contains("memory") && !has_word(&line, "ram") && !has_word(&line, "vram") {
            return Self::Nothing;
        }
        // A line of all arguments has every word.
        match line.len() < LONGEST_SENTENCE && (is_oom || TROUBLE.iter().any(|word| line.contains(word))) {
            true => Self::Trouble,
            false => Self::Memory,
        }
    }
}

fn is_of_host(line: &str) -> bool {
    has_word(line, "ram") || HOST.iter().any(|words| line.contains(words))
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric()).any(|part| part == word)
}

/// Returns at most 200 characters, that end with a word.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 200;
    let Some((end, _)) = text.char_indices().nth(LONGEST) else { return text.to_owned() };
    let start = &text[..end];
    format!("{}…", start.rsplit_once(' ').map_or(start, |(words, _)| words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> (String, String) {
        let mut nearest = Nearest::default();
        text.lines().for_each(|line| nearest.see(line));
        nearest.told()
    }

    #[track_caller]
    fn check(text: &str, line: &str, hint: &str) {
        let told = told(text);
        assert_eq!(told.0, format!("No line about memory is understood; the nearest is “{line}”"));
        assert!(told.1.contains(hint) && !told.1.contains("diagnose"), "{}", told.1);
    }

    #[test]
    fn the_sentence_with_the_trouble_is_quoted() {
        check("step 1\nthe Memory module\nthe memory is full\nmemory", "the memory is full", "Add the lines around it");
        let leak = "We use vLLM since today. Its RAM use grows, though it runs on a GPU. Who helps?";
        check(leak, "Its RAM use grows, though it runs on a GPU.", "snapscope host");
        check("This fails OOM with AWQ:\nvllm serve a", "This fails OOM with AWQ:", "the engine's log from its start");
        let long = format!("memory leaks {}end", "here ".repeat(50));
        assert!(told(&long).0.ends_with("here here…”"), "{}", told(&long).0);
    }

    #[test]
    fn other_words_are_not_about_memory() {
        let none = "No line about memory was found in this text";
        assert_eq!(told("enough room to zoom\nPROGRAM\nepoch 1").0, none);
    }
}
