//! Writes what is alive at a moment as a profile for speedscope.app, with bytes as the weights of stacks.
//!
//! The format is <https://www.speedscope.app/file-format-schema.json>. Each device gets a `sampled` profile, whose
//! stacks begin with the outermost frame.

use super::subject::{Pieces, Subject, device_name, quoted};
use crate::analysis::live_by_stack;
use crate::base::{Moment, format};
use hashbrown::HashMap;

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// Function, file and line of a frame.
type Frame<'a> = (&'a str, &'a str, u64);

/// Writes the live bytes of each device at the subject's moment, piece after piece into `sink`.
pub fn speedscope<S: FnMut(&[u8])>(subject: &Subject<'_>, sink: S) {
    let mut out = Pieces::new(sink);
    let mut frames: Vec<Frame<'_>> = Vec::new();
    let mut ids: HashMap<Frame<'_>, usize> = HashMap::new();
    let mut id_of = |frame| {
        let id = ids.entry(frame).or_insert_with(|| {
            frames.push(frame);
            frames.len() - 1
        });
        id.to_string()
    };
    let file = quoted(subject.file);
    out.put(format_args!(
        "{{\"$schema\":\"{SCHEMA}\",\"exporter\":\"snapscope {}\",\"name\":{file},\"activeProfileIndex\":0,\"profiles\":[",
        env!("CARGO_PKG_VERSION")
    ));
    for (position, &(device, timeline)) in subject.devices.iter().enumerate() {
        let moment = subject.moment_of(timeline);
        let groups = live_by_stack(device, &timeline.allocations, moment);
        let total: u64 = groups.iter().map(|group| group.bytes).sum();
        let when = Moment(moment);
        let name = quoted(&format!("{} · {} live {when}", device_name(device), format::bytes(total)));
        let comma = if position > 0 { "," } else { "" };
        out.put(format_args!(
            "{comma}\n{{\"type\":\"sampled\",\"name\":{name},\"unit\":\"bytes\",\"startValue\":0,\"endValue\":{total},\
             \"samples\":["
        ));
        for (index, group) in groups.iter().enumerate() {
            let ids: Vec<String> = match group.stack.has_frames() {
                true => subject.frames(group.stack).rev().map(&mut id_of).collect(),
                false => vec![id_of(("no stack recorded", "", 0))],
            };
            out.put(format_args!("{}[{}]", if index > 0 { ",\n" } else { "\n" }, ids.join(",")));
        }
        let weights: Vec<String> = groups.iter().map(|group| group.bytes.to_string()).collect();
        out.put(format_args!("],\"weights\":[{}]}}", weights.join(",")));
    }
    out.put(format_args!("],\n\"shared\":{{\"frames\":["));
    for (index, &(name, filename, line)) in frames.iter().enumerate() {
        out.put(format_args!("{}{{\"name\":{}", if index > 0 { ",\n" } else { "\n" }, quoted(name)));
        if !filename.is_empty() {
            out.put(format_args!(",\"file\":{}", quoted(filename)));
        }
        if line > 0 {
            out.put(format_args!(",\"line\":{line}"));
        }
        out.put(format_args!("}}"));
    }
    out.put(format_args!("]}}}}\n"));
    out.finish();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::subject::with_subject;
    use crate::trace::{Trace, text};
    use serde_json::Value;

    fn document(trace: &Trace, moment: Option<u32>) -> Value {
        let mut bytes = Vec::new();
        with_subject(trace, |subject| {
            speedscope(&Subject { file: "a \"file\"", moment, ..subject }, |piece| bytes.extend_from_slice(piece));
        });
        serde_json::from_slice(&bytes).unwrap()
    }

    const TRACE: &str = "
        alloc a 10 @f<main
        alloc b 30 @g<main
        alloc c 25 @f<main
        alloc d 7
        free b
        device 1
        alloc e 5 @f<main
    ";

    #[test]
    fn weights_are_the_live_bytes() {
        let trace = text::parse(TRACE).unwrap();
        let document = document(&trace, None);
        let weights = |profile: usize| document["profiles"][profile]["weights"].clone();
        assert_eq!(weights(0), serde_json::json!([35, 30, 7]));
        assert_eq!(weights(1), serde_json::json!([5]));
        assert_eq!(document["profiles"][0]["endValue"], 72);
        assert_eq!(document["profiles"][0]["name"], "GPU 0 · 72 B live after event 3");
        assert_eq!(document["name"], "a \"file\"");
    }

    #[test]
    fn stacks_begin_with_the_outermost_frame() {
        let trace = text::parse(TRACE).unwrap();
        let document = document(&trace, Some(4));
        let names = |sample: usize| -> Vec<&str> {
            let ids = document["profiles"][0]["samples"][sample].as_array().unwrap();
            ids.iter()
                .map(|id| document["shared"]["frames"][id.as_u64().unwrap() as usize]["name"].as_str().unwrap())
                .collect()
        };
        assert_eq!([names(0), names(1), names(2)], [vec!["main", "f"], vec!["main", "g"], vec!["no stack recorded"]]);
        assert_eq!(document["shared"]["frames"].as_array().unwrap().len(), 4, "each frame once");
    }
}
