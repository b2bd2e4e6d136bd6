//! What the command line promises to programs: its options, the fields of `--json`, tables and exported files.
//!
//! Small snapshots have their documents stored whole, so that a change is read as a difference of lines; for the others
//! a fingerprint of each document is stored.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::{Command, Output};
use std::thread;

use testkit::corpus::samples;
use testkit::documents::{check, fingerprint};
use testkit::server::{root, snapscope};

/// Snapshots whose documents are stored whole: together they have every field.
const WHOLE: &[&str] = &[
    "made-every-field.pickle",
    "made-histories.pickle",
    "torch2.15-expandable-py311.pickle.gz",
    "torch2.6-two-gpus-expandable-no-trace.pickle.gz",
    "virtual-py-cudagraph-mempool.pickle.gz",
    "virtual-py-recordstream-lag.pickle.gz",
];

const MOST_BYTES: usize = 64 << 10;

/// Commands that answer in JSON; `FILE` stands for the snapshot.
const ASKED: &[&str] = &[
    "inspect --json FILE",
    "inspect --json --events last:50 FILE",
    "peak --json FILE",
    "peak --json --by category --top 3 FILE",
    "peak --json --from 2 --to 20 --part born --by function FILE",
    "diagnose --json FILE",
    "diagnose --json --capacity 16GiB --max-peak 1MiB --max-growth 1 FILE",
    "segments --json FILE",
    "diff --json --at-a 3 FILE FILE",
    "diff --json --by module FILE FILE",
    "ranks --json FILE FILE",
    "source --json FILE",
    "source --json --from 2 --to 20 --top 3 FILE",
    "replay --json --verify FILE",
    "replay --json --settings expandable_segments:True --capacity 16GiB FILE",
];

const WRITTEN: &[&str] = &[
    "export --to json FILE",
    "export --to json --table categories FILE",
    "export --to json --table allocations FILE",
    "export --to json --table events FILE",
    "export --to json --table segments FILE",
    "export --to json --table steps FILE",
    "export --to json --table findings FILE",
    "export --to json --table frames FILE",
    "export --to csv FILE",
    "export --to csv --table allocations FILE",
    "export --to csv --table findings FILE",
    "export --to markdown --table findings FILE",
    "export --to perfetto FILE",
    "export --to speedscope FILE",
];

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(snapscope());
    // Documents name the file as it was given.
    command.current_dir(root().join("tests/data/snapshots")).args(arguments);
    command.output().expect("the binary to start")
}

/// Runs a command on a snapshot; returns its exit status, and what it printed or wrote, or what it complained of.
fn answer(command: &str, file: &str) -> (i32, Vec<u8>) {
    let words = command.split(' ').map(|word| if word == "FILE" { file } else { word });
    let mut words: Vec<&str> = words.collect();
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("out").to_string_lossy().into_owned();
    let writes = WRITTEN.contains(&command);
    if writes {
        words.extend(["-o", &output]);
    }
    let ran = run(&words);
    let status = ran.status.code().expect("an exit status");
    let bytes = if status == 2 {
        ran.stderr
    } else if writes {
        std::fs::read(&output).expect("the file that the command wrote")
    } else {
        ran.stdout
    };
    (status, bytes)
}

fn commands() -> impl Iterator<Item = &'static str> {
    ASKED.iter().chain(WRITTEN).copied()
}

#[test]
fn small_snapshots_have_the_documents_that_are_stored() {
    for file in WHOLE {
        let mut text = String::new();
        for command in commands() {
            let (status, bytes) = answer(command, file);
            let body = String::from_utf8(bytes).expect("UTF-8");
            write!(text, "$ snapscope {}\n{}\n[exit {status}]\n\n", command.replace("FILE", file), body.trim_end())
                .expect("a string takes all");
        }
        check(&format!("{}.txt", file.split_once(".pickle").map_or(*file, |(name, _)| name)), &text);
    }
}

#[test]
fn other_snapshots_have_documents_of_the_same_bytes() {
    // A document of a larger one has no field more, and takes its time.
    let small = samples().into_iter().filter(|sample| sample.bytes.len() < MOST_BYTES);
    let names: Vec<String> = small.map(|sample| sample.name).filter(|name| !WHOLE.contains(&name.as_str())).collect();
    let of_file = |file: &str| {
        let line = |command: &str| {
            let (status, bytes) = answer(command, file);
            format!("{} {status} {}\n", fingerprint(&bytes), command.replace("FILE", file))
        };
        commands().map(line).collect::<String>()
    };
    // Two at a time: each command is a process that decodes the file anew.
    let pairs = names.chunks(2).map(|pair| {
        thread::scope(|scope| {
            let asked: Vec<_> = pair.iter().map(|file| scope.spawn(|| of_file(file))).collect();
            asked.into_iter().map(|asked| asked.join().expect("an answer")).collect::<String>()
        })
    });
    check("fingerprints.txt", &pairs.collect::<String>());
}

#[test]
fn every_option_is_described_as_it_is_stored() {
    let help = |arguments: &[&str]| {
        let text = String::from_utf8(run(&[arguments, &["--help"]].concat()).stdout).expect("UTF-8");
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        format!("$ snapscope {}\n{}\n\n", [arguments, &["--help"]].concat().join(" "), lines.join("\n"))
    };
    let mut text = help(&[]);
    let listed = text.clone();
    let rows = listed.lines().skip(1).take_while(|line| *line != "Options:");
    let commands: Vec<&str> = rows.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    // The manual has all that are not hidden.
    let manual = String::from_utf8(run(&["man"]).stdout).expect("UTF-8");
    let parts = manual.lines().filter_map(|line| line.strip_prefix(".SH \"snapscope ")?.strip_suffix('"'));
    let all = commands.iter().copied().collect();
    assert_eq!(BTreeSet::from_iter(parts), all, "the groups of the help have every command");
    assert!(String::from_utf8(run(&["completions", "bash"]).stdout).expect("UTF-8").contains("complete -F _snapscope"));
    for command in commands {
        text += &help(&[command]);
        let parts: &[&str] = match command {
            "ci" => &["run"],
            "data" => &["check", "backup", "restore"],
            _ => &[],
        };
        parts.iter().for_each(|part| text += &help(&[command, part]));
    }
    check("help.txt", &text);
}
