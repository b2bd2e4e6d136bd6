//! Checks that the settings and options in the compose file for large installations exist.

use clap::{CommandFactory as _, Parser};
use saphyr::{LoadableYamlNode as _, Yaml};
use server::config::SettingsArgs;
use testkit::server::{built_page, root};

#[derive(Parser)]
struct Options {
    #[command(flatten)]
    settings: SettingsArgs,
}

fn compose() -> Yaml<'static> {
    let text = std::fs::read_to_string(root().join("server/deploy/compose.yaml")).expect("the file");
    let text: &'static str = text.leak();
    Yaml::load_from_str(text).expect("YAML").remove(0)
}

/// Returns the entries of a mapping; those merged by `<<` come in its place, so that later ones override them.
fn entries<'a>(mapping: &'a Yaml<'static>) -> Vec<(&'a str, &'a Yaml<'static>)> {
    let own = mapping.as_mapping().into_iter().flatten();
    let named = own.map(|(key, value)| (key.as_str().expect("a word"), value));
    named.flat_map(|(key, value)| if key == "<<" { entries(value) } else { vec![(key, value)] }).collect()
}

fn get<'a>(mapping: &'a Yaml<'static>, key: &str) -> Option<&'a Yaml<'static>> {
    entries(mapping).into_iter().rev().find(|(name, _)| *name == key).map(|(_, value)| value)
}

/// Service that runs `snapscope`.
struct Service {
    name: String,
    words: Vec<String>,
    variables: Vec<(String, String)>,
}

fn services() -> Vec<Service> {
    let compose = compose();
    let text = |value: &Yaml<'static>| filled(value.as_str().expect("a text"));
    let services = entries(get(&compose, "services").expect("services"));
    let ours = services.into_iter().filter(|(_, service)| get(service, "build").is_some());
    let service = |(name, service): (&str, &Yaml<'static>)| {
        let words = get(service, "command").and_then(|words| words.as_sequence()).expect("a command");
        let variables = entries(get(service, "environment").expect("variables"));
        let variables = variables.into_iter().map(|(name, value)| (name.to_owned(), text(value))).collect();
        Service { name: name.to_owned(), words: words.iter().map(text).collect(), variables }
    };
    ours.map(service).collect()
}

#[track_caller]
fn service(name: &str) -> Service {
    services().into_iter().find(|service| service.name == name).unwrap_or_else(|| panic!("no service {name}"))
}

/// Replaces the variables in a text by their defaults, or by a word.
fn filled(text: &str) -> String {
    let Some((before, rest)) = text.split_once("${") else { return text.to_owned() };
    let (inner, after) = rest.split_once('}').expect("an end");
    let value = inner.split_once(":-").map_or("word", |(_, default)| default);
    format!("{before}{value}{}", filled(after))
}

#[track_caller]
fn settings(service: &Service) -> SettingsArgs {
    let options = Options::command();
    let mut arguments = service.words.clone();
    for (name, value) in service.variables.iter().filter(|(name, _)| name.starts_with("SNAPSCOPE_")) {
        let is_its = |option: &&clap::Arg| option.get_env().is_some_and(|variable| variable == name.as_str());
        let option = options.get_arguments().find(is_its).unwrap_or_else(|| panic!("{name} is no setting"));
        arguments.push(format!("--{}={value}", option.get_long().expect("a long option")));
    }
    Options::try_parse_from(arguments).unwrap_or_else(|error| panic!("{error}")).settings
}

#[test]
fn the_server_of_the_compose_file_has_settings_that_there_are() {
    let server = service("server");
    assert_eq!(server.words[0], "serve");
    let settings = SettingsArgs { dist: Some(built_page()), ..settings(&server) };
    let config = settings.resolve().unwrap_or_else(|failure| panic!("{failure}"));
    assert!(config.token.is_some() && config.worker.slots.is_empty());
    assert_eq!((config.store.to_string(), config.listen.port()), ("s3://snapshots/".to_owned(), 8080));
}

#[test]
fn the_workers_of_the_compose_file_share_database_and_store() {
    let (server, worker) = (service("server"), service("worker"));
    assert_eq!(worker.words[0], "worker");
    let config = settings(&worker).resolve_worker().unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(config.worker.slots.len(), 1);
    for variable in &worker.variables {
        assert!(server.variables.contains(variable), "{} is not as the server's", variable.0);
    }
}

#[test]
fn secrets_are_in_no_file() {
    for Service { name: service, variables, .. } in services() {
        for (name, value) in variables {
            let is_secret = ["TOKEN", "SECRET_ACCESS_KEY", "ACCESS_KEY_ID"].iter().any(|word| name.ends_with(word));
            assert!(!is_secret || value == "word", "{service} has a {name} of its own");
            assert!(!name.ends_with("DATABASE") || value.contains(":word@"), "{service} has a password of its own");
        }
    }
}
