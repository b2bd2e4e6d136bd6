//! Tests training configs: those of `data/jobs` are valid and those of `data/jobs/bad` have clear errors.
//!
//! No damage to any of them makes the reader panic or hang.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use shared::job::{Format, Import, Job, Overrides, Problem, RawJob, Source};
use testkit::generator::Random;
use testkit::server::root;

fn folder(name: &str) -> PathBuf {
    root().join("tests/data").join(name)
}

fn texts(name: &str) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file());
    files
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(path).unwrap()))
        .collect()
}

fn read(name: &str, text: &str) -> Result<Import, Vec<Problem>> {
    Import::read(Source { name, text }, None)
}

fn resolve(name: &str, text: &str) -> Result<Job, Vec<Problem>> {
    let Import { job, places, .. } = read(name, text)?;
    job.resolve().map_err(|problems| places.locate(problems))
}

fn written(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

#[test]
fn every_config_is_a_job_that_survives_the_way_to_the_recorder() {
    let configs = texts("jobs").into_iter().filter(|(name, _)| !name.starts_with("training-args"));
    let mut count = 0;
    for (name, text) in configs {
        let job = resolve(&name, &text).unwrap_or_else(|problems| panic!("{name}: {}", written(&problems)));
        let again = RawJob::from_json(&job.to_json()).unwrap().resolve().unwrap();
        assert_eq!(again, job, "{name}");
        count += 1;
    }
    assert!(count >= 9, "{count} configs");
}

/// Compares the messages with stored ones, which `UPDATE=1` rewrites.
#[test]
fn every_bad_config_says_what_to_write() {
    let files = texts("jobs/bad");
    let bad = files.iter().filter(|(name, _)| !name.ends_with(".txt"));
    let mut count = 0;
    for (name, text) in bad {
        let problems = written(&resolve(name, text).expect_err(name));
        let expected = format!("{name}.txt");
        if std::env::var_os("UPDATE").is_some() {
            fs::write(root().join("tests/data/jobs/bad").join(&expected), problems).unwrap();
        } else {
            assert_eq!(files.get(&expected), Some(&problems), "{name}");
        }
        count += 1;
    }
    assert!(count >= 9, "{count} bad configs");
}

/// Returns the importer's error code for a text that is not a snapshot.
fn word_for(text: &str) -> &'static str {
    shared::import::import(text.as_bytes()).expect_err("a config is no snapshot").code
}

#[test]
fn configs_are_known_where_a_snapshot_was_expected() {
    for (name, text) in texts("jobs") {
        assert!(["training-config", "training-arguments"].contains(&word_for(&text)), "{name}: {}", word_for(&text));
    }
    // A text with two keys is recognized only if both are known.
    for pair in RawJob::KEYS.windows(2) {
        assert_eq!(word_for(&format!("{} = 1\n{} = 1\n", pair[0], pair[1])), "training-config", "{pair:?}");
    }
}

#[test]
fn the_same_job_in_another_format_is_the_same() {
    let text = &texts("jobs")["gpt2-autocast.yaml"];
    let job = resolve("gpt2-autocast.yaml", text).unwrap();
    let json = RawJob::parse(text, Format::Yaml).unwrap().to_json();
    assert_eq!(RawJob::parse(&json, Format::of("-", &json)).unwrap().resolve().unwrap(), job);
}

#[test]
fn a_model_and_its_training_arguments_are_one_job() {
    let files = texts("jobs");
    let config = Source { name: "config.json", text: &files["hf-llama.config.json"] };
    let arguments = Source { name: "args.yaml", text: &files["training-args.yaml"] };
    let import = Import::read(config, Some(arguments)).unwrap();
    let overrides = Overrides { steps: Some(2), card: Some("l4-24gb".to_owned()), ..Overrides::default() };
    let job = overrides.apply(import.job).resolve().unwrap();
    assert_eq!((job.batch, job.accumulation, job.steps, job.sequence), (1, 8, 2, 512));
    assert!(job.checkpointing);
    assert_eq!(job.parameters(), 1_235_814_400);
    let why = |key: &str| import.ignored.iter().find(|note| note.key == key).map(|note| note.note.as_str());
    assert_eq!(why("deepspeed"), Some("not modeled; the figures are for plain training on one GPU"));
    assert_eq!(why("output_dir"), Some("does not change device memory"));
    assert_eq!(why("flash_mode"), Some("unknown key"));
}

/// Fragments that break parsers.
const PIECES: &[&str] = &[
    "{", "}", "[", "]", "\"", "'", ":", "=", ",", "\n", "&a ", "*a ", "- ", "? ", "| ", "!!str ", "#", "%", "\u{feff}",
    "-1", "0", "1e999", ".nan", "nan", "inf", "1e-400", "null", "true", "\\u0000", "🦀", "\t", "[model]", "---", "...",
];

/// Longer ones.
const LONG_PIECES: &[&str] = &["9223372036854775808", "[[model]]", "a.b.c = 1", "model_type"];

#[test]
fn damaged_configs_are_errors_or_jobs_that_survive() {
    let mut texts = texts("jobs");
    texts.extend(self::texts("jobs/bad"));
    let (texts, pieces) = (texts.into_values().collect::<Vec<_>>(), [PIECES, LONG_PIECES].concat());
    let mut random = Random::new(1);
    let start = Instant::now();
    let mut jobs = 0;
    for round in 0..6000 {
        let mut text = texts[round % texts.len()].clone();
        for _ in 0..random.below(4) + 1 {
            damage(&mut text, &texts, &pieces, &mut random);
        }
        for name in ["x.toml", "x.yaml", "x.json", "x"] {
            let config = Source { name, text: &text };
            let arguments = Source { name, text: &texts[random.below(texts.len())] };
            for import in [Import::read(config, None), Import::read(config, Some(arguments))] {
                let Ok(job) = import.and_then(|import| import.job.resolve()) else { continue };
                let again = RawJob::from_json(&job.to_json()).and_then(RawJob::resolve);
                assert_eq!(again.as_ref(), Ok(&job), "{text}");
                jobs += 1;
            }
        }
    }
    assert!(jobs > 100, "{jobs} of the damaged configs are jobs, so that resolving is tested too");
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
}

/// Cuts, repeats, overwrites or inserts at a random place of a text.
fn damage(text: &mut String, texts: &[String], pieces: &[&str], random: &mut Random) {
    let mut boundary = || {
        let at = random.below(text.len() + 1);
        text.floor_char_boundary(at)
    };
    let (a, b) = (boundary(), boundary());
    let (start, end) = (a.min(b), a.max(b));
    match random.below(5) {
        0 => text.replace_range(start..end, ""),
        1 => text.insert_str(start, random.one_of(pieces)),
        2 => text.insert_str(start, &random.one_of(pieces).repeat(random.below(200))),
        3 => {
            let piece = text[start..end].to_owned();
            text.insert_str(start, &piece);
        }
        _ => {
            let line = texts[random.below(texts.len())].lines().nth(random.below(8)).unwrap_or_default();
            text.insert_str(start, &format!("\n{line}\n"));
        }
    }
}

#[test]
fn hostile_texts_end_at_once() {
    let size = 1 << 20;
    let piece = |piece: &str| piece.repeat(size / piece.len());
    let keys = (0..60_000).map(|index| format!("k{index}: {index}\n")).collect::<String>();
    let lines = (0..60_000).map(|index| format!("k{index} = {index}\n")).collect::<String>();
    let pieces = [
        "[",
        "{",
        "{\"a\":",
        "- ",
        "-\n",
        "? ",
        "a: ",
        "&a ",
        "!!str ",
        "\"",
        "'",
        " ",
        "\n",
        "#",
        "[a]\n",
        "a.b.",
        "a = {",
        "a = [",
        "*a ",
        "[a, ",
        "{a, ",
        "0",
        "|\n",
        "[[a]]\n",
        "\"\\u0041",
    ];
    let others = [keys, lines, format!("a: \"{}\"", piece("x")), "x".repeat(10_000_000)];
    for text in pieces.map(piece).into_iter().chain(others) {
        for name in ["x.toml", "x.yaml", "x.json"] {
            let start = Instant::now();
            assert!(resolve(name, &text).is_err());
            let shown = &text[..text.floor_char_boundary(20)];
            assert!(start.elapsed() < Duration::from_secs(10), "{shown:?} in {name}: {:?}", start.elapsed());
        }
    }
}
