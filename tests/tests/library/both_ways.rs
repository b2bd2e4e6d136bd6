//! Checks that a pickle decodes to the same trace as whole records and opcode by opcode.
//!
//! Chunks of one byte are too short for the fast path (`pickle/runs.rs`), so each opcode is a separate step; larger
//! chunks cut records at arbitrary places. Everything is compared, including the order in which strings and stacks
//! appear and the byte offsets of errors.

use shared::import::{ImportError, Importer};
use shared::trace::Trace;
use testkit::corpus::{Sample, samples};
use testkit::generator::Random;

type Decoded = Result<Trace, ImportError>;

fn decode(bytes: &[u8], mut chunk_len: impl FnMut() -> usize) -> Decoded {
    let mut importer = Importer::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (chunk, behind) = rest.split_at(chunk_len().min(rest.len()));
        importer.push(chunk)?;
        rest = behind;
    }
    importer.finish()
}

fn stepwise(bytes: &[u8]) -> Decoded {
    decode(bytes, || 1)
}

fn at_once(bytes: &[u8]) -> Decoded {
    decode(bytes, || usize::MAX)
}

/// Panics unless both results are equal, row by row.
#[track_caller]
fn assert_same(name: &str, a: &Decoded, b: &Decoded) {
    let (a, b) = match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (a, b) => {
            let error = |decoded: &Decoded| decoded.as_ref().err().map(|error| format!("{error:?}"));
            return assert_eq!(error(a), error(b), "{name}");
        }
    };
    a.check();
    let texts = |trace: &Trace| trace.strings.ids().map(|id| trace.strings.get(id).to_owned()).collect::<Vec<_>>();
    assert_eq!(texts(a), texts(b), "strings of {name}");
    assert!(a.frames.iter().eq(b.frames.iter()), "frames of {name}");
    let stacks = |trace: &Trace| trace.stacks.ids().map(|id| trace.stacks.frames(id).to_vec()).collect::<Vec<_>>();
    assert_eq!(stacks(a), stacks(b), "stacks of {name}");
    assert!(a.contexts.iter().eq(b.contexts.iter()), "contexts of {name}");
    assert!(a.devices == b.devices && a.host == b.host, "devices of {name}");
    assert_eq!((&a.annotations, &a.settings), (&b.annotations, &b.settings), "{name}");
    assert_eq!((a.format, &a.diagnostics), (b.format, &b.diagnostics), "{name}");
}

fn pickles() -> Vec<(String, Vec<u8>)> {
    let is_pickle = |sample: &Sample| sample.name.ends_with(".pickle") || sample.name.ends_with(".pickle.gz");
    let found: Vec<_> =
        samples().into_iter().filter(is_pickle).map(|sample| (sample.name.clone(), sample.unpacked())).collect();
    assert!(found.len() > 20, "{} pickles", found.len());
    found
}

/// Opcodes that may occur anywhere.
const OPCODES: &[&[u8]] = &[
    b"}\x94(", b"]\x94(", b"](", b"}(", b"]", b"]\x94", b")", b"h\x05", b"h\x10", b"q\x05", b"q\x06", b"\x94", b"u",
    b"e", b"a", b"s", b"0", b"1", b"2", b"(", b"t", b"l", b"d", b"\x85", b"\x86", b"N", b"K\x00", b".",
];

/// Opcodes with longer arguments.
const LONG_OPCODES: &[&[u8]] = &[
    b"r\x10\x00\x00\x00",
    b"j\x10\x00\x00\x00",
    b"K\x00K\x00\x86",
    b"M\x00\x01",
    b"J\xff\xff\xff\xff",
    b"\x8a\x01\x80",
    b"\x8a\x00",
    b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x8c\x03N/A",
    b"\x8c\x06action",
    b"\x8c\x02\xff\xfe",
];

fn damage(bytes: &mut Vec<u8>, opcodes: &[&[u8]], random: &mut Random) {
    let place = random.below(bytes.len());
    let end = (place + 1 + random.below(80)).min(bytes.len());
    match random.below(6) {
        0 => bytes[place] = random.below(256) as u8,
        1 => bytes[place] = random.one_of(opcodes)[0],
        2 => drop(bytes.remove(place)),
        3 => {
            let piece = bytes[place..end].to_vec();
            let target = random.below(bytes.len());
            drop(bytes.splice(target..target, piece));
        }
        4 => drop(bytes.drain(place..end)),
        _ => drop(bytes.splice(place..place, random.one_of(opcodes).iter().copied())),
    }
}

#[test]
fn stored_pickles_say_the_same_both_ways() {
    let mut random = Random::new(1);
    for (name, bytes) in pickles() {
        let steps = stepwise(&bytes);
        assert_same(&name, &at_once(&bytes), &steps);
        for longest in [40, 300, 5000] {
            assert_same(&name, &decode(&bytes, || 1 + random.below(longest)), &steps);
        }
    }
}

#[test]
fn damaged_pickles_say_the_same_both_ways() {
    const ROUNDS: usize = 4000;
    let mut random = Random::new(2);
    let small: Vec<_> = pickles().into_iter().filter(|(_, bytes)| bytes.len() < 30_000).collect();
    let opcodes = [OPCODES, LONG_OPCODES].concat();
    let (mut read, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let (name, bytes) = &small[random.below(small.len())];
        let mut bytes = bytes.clone();
        for _ in 0..1 + random.below(3) {
            damage(&mut bytes, &opcodes, &mut random);
        }
        let name = format!("{name}, damaged in round {round}");
        let steps = stepwise(&bytes);
        if steps.is_ok() {
            read += 1
        } else {
            refused += 1
        }
        assert_same(&name, &at_once(&bytes), &steps);
        assert_same(&name, &decode(&bytes, || 1 + random.below(400)), &steps);
    }
    assert!(read > ROUNDS / 50 && refused > ROUNDS / 50, "{read} were read and {refused} refused");
}
