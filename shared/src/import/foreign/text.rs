//! Identifies plain texts: pointers, logs, configs, tables, scripts.

use super::config;
use super::words::{self, Kind};
use crate::logs::is_log as says_memory;

/// Returns the kind of a text; `mentions_oom` says whether the whole file contains an out-of-memory error.
pub(super) fn kind(text: &str, mentions_oom: bool) -> Option<&'static Kind> {
    let text = text.trim_start();
    pointer(text)
        .or_else(|| mentions_oom.then_some(&words::OOM_LOG))
        .or_else(|| download_error(text))
        .or_else(|| has_any(text, &["NVIDIA-SMI ", "memory.used [MiB]", "NVSMI LOG"]).then_some(&words::NVIDIA_SMI))
        .or_else(|| text.contains("PyTorch CUDA memory summary").then_some(&words::MEMORY_SUMMARY))
        .or_else(|| says_memory(text.as_bytes()).then_some(&words::HOST_LOG))
        .or_else(|| has_processes(text).then_some(&words::PS_WITHOUT_MEMORY))
        .or_else(|| is_script(text).then_some(&words::SCRIPT))
        .or_else(|| config::keys_of(text).and_then(|keys| config::kind(keys.into_iter())))
        .or_else(|| is_log(text).then_some(&words::LOG))
        .or_else(|| is_settings(text).then_some(&words::OTHER_CONFIG))
        .or_else(|| is_table(text).then_some(&words::CSV))
}

/// Words of out-of-memory errors in PyTorch and related projects.
pub(super) const OOM_WORDS: &[&str] =
    &["CUDA out of memory", "HIP out of memory", "XPU out of memory", "OutOfMemoryError"];

/// Identifies the few lines that stand for a large file in a repository.
fn pointer(text: &str) -> Option<&'static Kind> {
    let first = text.lines().next()?.trim_end();
    let is_lfs = ["version https://git-lfs.github.com/spec/", "version https://hawser.github.com/spec/"];
    if is_lfs.iter().any(|start| first.starts_with(start)) {
        return Some(&words::GIT_LFS);
    }
    if text.len() < 1000 && (first.starts_with("/annex/objects/") || first.contains(".git/annex/objects/")) {
        return Some(&words::GIT_ANNEX);
    }
    let is_dvc = first == "outs:" && text.lines().any(|line| line.trim_start_matches([' ', '-']).starts_with("md5: "));
    is_dvc.then_some(&words::DVC)
}

/// Identifies a server's error message that was saved in place of the file.
fn download_error(text: &str) -> Option<&'static Kind> {
    const LONGEST: usize = 400;
    const STARTS: &[&str] = &[
        "400: ",
        "403: ",
        "404: ",
        "429: ",
        "404 page not found",
        "Not Found",
        "Not found",
        "Forbidden",
        "Unauthorized",
        "Access denied",
        "Access Denied",
        "Entry not found",
        "Repository not found",
        "Invalid username or password",
        "Invalid credentials",
        "Too many requests",
        "Too Many Requests",
        "Internal Server Error",
    ];
    let is_one = STARTS.iter().any(|start| text.starts_with(start)) || text.contains("is restricted. You must");
    (text.len() < LONGEST && is_one).then_some(&words::DOWNLOAD_ERROR)
}

fn has_any(text: &str, wanted: &[&str]) -> bool {
    wanted.iter().any(|words| text.contains(words))
}

/// Returns true if a text has rows of `ps -ef`: `user pid ppid c stime tty time command`.
fn has_processes(text: &str) -> bool {
    const ROWS: usize = 2;
    let is_row = |words: &[&str]| {
        let are_ids = words[..3].iter().all(|word| word.parse::<u32>().is_ok());
        let is_time = |word: &str| word.len() == 8 && word.bytes().filter(|byte| *byte == b':').count() == 2;
        are_ids && words[3].contains(|c: char| c.is_ascii_digit()) && is_time(words[5])
    };
    let rows = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        words.windows(6).filter(|words| is_row(words)).count()
    };
    text.lines().map(rows).sum::<usize>() >= ROWS
}

fn is_script(text: &str) -> bool {
    let is_code = |line: &&str| {
        let is_import = line.starts_with("import ") || (line.starts_with("from ") && line.contains(" import "));
        is_import || line.starts_with("def ") || line.starts_with("class ") || line.starts_with("if __name__ ==")
    };
    let is_marked = text.starts_with("#!") && text.lines().next().is_some_and(|line| line.contains("python"));
    is_marked || text.lines().filter(is_code).count() >= 2
}

fn is_log(text: &str) -> bool {
    const MARKS: &[&str] = &["Traceback (most recent call last)", "it/s]", "s/it]", "INFO", "WARNING", "DEBUG"];
    if has_any(text, MARKS) {
        return true;
    }
    let mut lines = text.lines().take(2);
    let is_record = |line: &str| line.starts_with('{') && line.trim_end().ends_with('}');
    lines.next().is_some_and(is_record) && lines.next().is_some_and(is_record)
}

/// Returns true for a text of keys and values, whatever their subject.
fn is_settings(text: &str) -> bool {
    let has_table = text.lines().any(|line| line.starts_with('[') && line.trim_end().ends_with(']'));
    config::keys_of(text).is_some_and(|keys| has_table || keys.len() > 1)
}

/// Returns true if all lines have equally many of the same separator, with a few words in between.
fn is_table(text: &str) -> bool {
    const LINES: usize = 10;
    const MOST_WORDS: usize = 3;
    [',', '\t', ';'].into_iter().any(|separator| {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(LINES).collect();
        let [first, ..] = lines[..] else { return false };
        let columns = first.split(separator).count();
        let is_row = |line: &&str| {
            let is_cell = |cell: &str| !cell.contains(": ") && cell.split_whitespace().count() <= MOST_WORDS;
            line.split(separator).count() == columns && line.split(separator).all(is_cell)
        };
        columns > 1 && lines.len() > 1 && lines.iter().all(is_row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, code: Option<&str>) {
        let mentions_oom = OOM_WORDS.iter().any(|words| text.contains(words));
        assert_eq!(kind(text, mentions_oom).map(|kind| kind.code), code, "{text}");
    }

    #[test]
    fn pointers_and_errors_in_place_of_files() {
        check("version https://git-lfs.github.com/spec/v1\r\noid sha256:00\r\nsize 12\r\n", Some("git-lfs-pointer"));
        check("version https://hawser.github.com/spec/v1\noid sha256:00\nsize 12\n", Some("git-lfs-pointer"));
        check("/annex/objects/SHA256E-s12--00.pickle\n", Some("git-annex-pointer"));
        check("../.git/annex/objects/aa/bb/MD5E-s1--0/MD5E-s1--0", Some("git-annex-pointer"));
        check("outs:\n- md5: 00\n  size: 12\n  path: snapshot.pickle\n", Some("dvc-pointer"));
        check("404: Not Found", Some("download-error"));
        check("Entry not found", Some("download-error"));
    }

    #[test]
    fn logs_are_told_from_configs() {
        check(
            "step 1\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.\n",
            Some("out-of-memory-log"),
        );
        let sample = |second: u32| {
            let process = "ml 4711 99.5 12.3 98765 81234 pts/0 Rl+ 10:12 1:02 python train.py";
            format!("Mon Nov 23 15:46:5{second} UTC 2026\n{process}\n")
        };
        check(&(sample(2) + &sample(3)), Some("host-memory-log"));
        check("Traceback (most recent call last):\n  File \"a.py\"\n", Some("log"));
        check(" 5%|█ | 5/100 [00:01<00:20, 4.5it/s]\n", Some("log"));
        check("{\"loss\": 1.5}\n{\"loss\": 1.4}\n", Some("log"));
        check("model = \"gpt2\"\nbatch = 2\n", Some("training-config"));
        check("[project]\nname = \"x\"\n", Some("settings-file"));
        check("services:\n  a: 1\nvolumes:\n  b: 2\n", Some("settings-file"));
    }

    #[test]
    fn tables_scripts_and_words() {
        check("step,bytes\n1,2\n3,4\n", Some("text-table"));
        check("step\tbytes\n1\t2\n", Some("text-table"));
        check("timestamp, memory.used [MiB]\n1, 2 MiB\n", Some("nvidia-smi"));
        check("import torch\nfrom torch import nn\nx = 1\n", Some("python-script"));
        check("#!/usr/bin/env python3\nprint(1)\n", Some("python-script"));
        check("|====|\n|  PyTorch CUDA memory summary, device ID 0  |\n", Some("memory-stats"));
        check("not a snapshot at all", None);
        check("", None);
    }
}
