//! Runs the steps of the GitHub Action as its runner does, but without the network.

use std::collections::BTreeMap;
use std::process::Command;

use saphyr::{LoadableYamlNode as _, Yaml};
use testkit::server::{root, snapscope};

use super::{Ran, Stage, keeps};
use crate::readme::example;

struct Action {
    steps: Vec<Step>,
}

struct Step {
    name: String,
    script: String,
    /// Inputs by the variables that hold them.
    inputs: BTreeMap<String, String>,
}

impl Action {
    #[track_caller]
    fn read() -> Self {
        let text = std::fs::read_to_string(root().join("server/python/action/action.yml")).expect("the action");
        let documents = Yaml::load_from_str(&text).expect("YAML");
        let runs = documents[0].as_mapping_get("runs").expect("runs");
        assert_eq!(runs.as_mapping_get("using").and_then(Yaml::as_str), Some("composite"));
        let steps = runs.as_mapping_get("steps").and_then(Yaml::as_sequence).expect("steps");
        Self { steps: steps.iter().filter_map(step).collect() }
    }

    #[track_caller]
    fn step(&self, name: &str) -> &Step {
        self.steps.iter().find(|step| step.name == name).expect("the step")
    }
}

/// Reads a step; those that use other actions have no script.
fn step(step: &Yaml<'_>) -> Option<Step> {
    let text = |name: &str| Some(step.as_mapping_get(name)?.as_str()?.to_owned());
    let inputs = step.as_mapping_get("env").and_then(Yaml::as_mapping).into_iter().flatten();
    let inputs = inputs.filter_map(|(name, value)| {
        let input = value.as_str()?.strip_prefix("${{ inputs.")?.strip_suffix(" }}")?;
        Some((name.as_str()?.to_owned(), input.to_owned()))
    });
    Some(Step { name: text("name")?, script: text("run")?, inputs: inputs.collect() })
}

#[test]
fn the_action_compares_writes_a_summary_and_fails_above_the_limit() {
    let action = Action::read();
    let stage = Stage::new(&[&keeps(100), &keeps(150)]);
    let run = |growth: &str| {
        let step = action.step("Compare");
        assert!(!step.script.contains("${{"), "inputs come as variables, so that none is taken for code");
        let given = [
            ("command", "python3 train.py"),
            ("base", "HEAD~1"),
            ("card", "t4-16gb"),
            ("max-growth", growth),
            ("options", "--top 3"),
        ];
        let mut command = Command::new("bash");
        stage.prepare(&mut command).args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &step.script]);
        for (variable, input) in &step.inputs {
            let value = given.iter().find(|(name, _)| name == input).map_or("", |(_, value)| value);
            command.env(variable, value);
        }
        command
            .env("PATH", path())
            .env("RUNNER_TEMP", stage.scene.path("runner"))
            .env("GITHUB_STEP_SUMMARY", stage.scene.path("summary.md"))
            .env("GITHUB_OUTPUT", stage.scene.path("output"));
        Ran::of(&command.output().expect("bash"))
    };
    run("50%").check(0, &["the peak changes by +50.0 MiB"]);
    run("1%").check(1, &["more than the limit of 1 %"]);
    let summary = stage.read("summary.md");
    assert_eq!(summary.matches("### GPU memory of python3 train.py on t4-16gb").count(), 2, "{summary}");
    let output = stage.read("output");
    assert!(output.starts_with("status=0\nreport=") && output.contains("\nstatus=1\n"), "{output}");
    assert!(stage.scene.path("runner/gpu-memory/head.pickle").exists());
    let badge = stage.read("runner/gpu-memory/badge.svg");
    assert!(badge.contains("<title>fits t4-16gb: 150 MiB</title>"), "{badge}");
}

/// A `gh` whose comments are the lines of the file `comments`.
const GH: &str = r#"#!/usr/bin/env python3
import json, re, sys
arguments = sys.argv[1:]
place = next(word for word in arguments if word.startswith("repos/o/r/issues/"))
lines = open("comments").read().splitlines()
body = [open(word.removeprefix("body=@")).read() for word in arguments if word.startswith("body=@")]
if "--jq" in arguments:
    mark = json.loads(re.search(r'startswith\((".*?")\)', arguments[-1])[1])
    print("\n".join(str(number) for number, line in enumerate(lines) if json.loads(line).startswith(mark)))
elif "PATCH" in arguments:
    lines[int(place.removeprefix("repos/o/r/issues/comments/"))] = json.dumps(body[0])
else:
    assert place == "repos/o/r/issues/5/comments"
    lines.append(json.dumps(body[0]))
open("comments", "w").write("".join(line + "\n" for line in lines))
"#;

#[test]
fn the_action_comments_once_and_updates_its_comment() {
    let action = Action::read();
    let scene = crate::scene::Scene::new();
    scene.write("bin/gh", GH);
    std::fs::set_permissions(scene.path("bin/gh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("gh");
    scene.write("comments", "\"a comment of somebody\"\n");
    let comment = |report: &str| {
        scene.write("report.md", report);
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &action.step("Comment").script]);
        let folders = [scene.path("bin")].into_iter().chain(std::env::split_paths(&path()).collect::<Vec<_>>());
        command
            .current_dir(scene.path(""))
            .env("PATH", std::env::join_paths(folders).expect("paths without colons"))
            .env("RUNNER_TEMP", scene.path(""))
            .env("COMMENTS", "repos/o/r/issues/5/comments")
            .env("COMMENT", "repos/o/r/issues/comments")
            .env("NAME", "gpu-memory")
            .env("REPORT", scene.path("report.md"));
        Ran::of(&command.output().expect("bash")).check(0, &[]);
        std::fs::read_to_string(scene.path("comments")).expect("the comments")
    };
    let of_others = "\"a comment of somebody\"\n";
    assert_eq!(comment("first"), format!("{of_others}\"<!-- snapscope: gpu-memory -->\\nfirst\"\n"));
    assert_eq!(comment("second"), format!("{of_others}\"<!-- snapscope: gpu-memory -->\\nsecond\"\n"));
}

/// Returns the search path of programs with the folder of the binary.
fn path() -> std::ffi::OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let folders = [snapscope().parent().expect("a folder").to_owned()].into_iter().chain(std::env::split_paths(&own));
    std::env::join_paths(folders).expect("paths without colons")
}

#[test]
fn the_example_for_github_gives_inputs_that_the_action_has() {
    let action = std::fs::read_to_string(root().join("server/python/action/action.yml")).expect("the action");
    let action = Yaml::load_from_str(&action).expect("YAML");
    let inputs = action[0].as_mapping_get("inputs").expect("inputs");
    let text = example("yaml", "server/python/action");
    let example = Yaml::load_from_str(&text).expect("YAML");
    let steps = example[0].as_mapping_get("steps").and_then(Yaml::as_sequence).expect("steps");
    let given = steps.iter().rev().find_map(|step| step.as_mapping_get("with")?.as_mapping()).expect("inputs");
    for name in given.keys().filter_map(Yaml::as_str) {
        assert!(inputs.as_mapping_get(name).is_some(), "the action has no input {name}");
    }
}

#[test]
fn the_example_for_gitlab_compares() {
    let text = example("yaml", "CI_MERGE_REQUEST_DIFF_BASE_SHA");
    let example = Yaml::load_from_str(&text).expect("YAML");
    let job = example[0].as_mapping_get("gpu-memory").expect("the job");
    let script = job.as_mapping_get("script").and_then(Yaml::as_sequence).expect("a script");
    let compare = script.iter().filter_map(Yaml::as_str).find(|line| line.starts_with("snapscope")).expect("a line");
    let stage = Stage::new(&[&keeps(100), &keeps(150)]);
    // A machine of GitLab has `python`.
    let compare = compare.replace("-- python ", "-- python3 ");
    let mut command = Command::new("bash");
    stage.prepare(&mut command).args(["-c", &compare]).env("PATH", path());
    let output = command.env("CI_MERGE_REQUEST_DIFF_BASE_SHA", "HEAD~1").output().expect("bash");
    Ran::of(&output).check(1, &["more than the limit of 1 %"]);
    assert!(stage.scene.path("repository/gpu-memory/head.pickle").exists());
    assert!(stage.read("repository/gpu-memory.md").starts_with("### GPU memory of python3 train.py --steps 3"));
}
