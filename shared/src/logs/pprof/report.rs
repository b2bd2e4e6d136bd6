//! Reports on memory profiles in the format of pprof, such as those of JAX: what is live, by device and by line.

use crate::analysis::{FindingCode, title_of_parts};
use crate::base::format;
use crate::logs::pprof::{HeapProfile, HeapUse};
use crate::logs::source::{LogPart, Source};
use crate::report::{Finding, HOST, LogCell, LogNotice, LogTable, NO_DEVICE};

/// Largest number of lines of a table; the last row sums all others.
const MOST_LINES: usize = 150;

impl Source for HeapProfile {
    fn part(&self) -> LogPart {
        let has_memory = !self.value.is_empty();
        LogPart {
            title: title(self),
            findings: if has_memory { largest(self).into_iter().collect() } else { vec![no_memory(self)] },
            tables: if has_memory { tables(self) } else { Vec::new() },
            notices: notices(self),
            ..LogPart::default()
        }
    }
}

fn title(profile: &HeapProfile) -> String {
    if !profile.is_jax {
        return match profile.value.as_str() {
            "" => "Profile in the format of pprof".to_owned(),
            value => format!("Memory profile in the format of pprof, {value}: {}", format::bytes(profile.bytes())),
        };
    }
    let arrays: u64 = profile.uses.iter().filter(|one| is_array(profile, one)).map(|one| one.count).sum();
    let devices = devices(profile).len() as u64;
    format!(
        "Device memory of JAX: {} in {} on {}",
        format::bytes(profile.bytes()),
        format::counted(arrays, "array"),
        format::counted(devices, "device")
    )
}

fn is_array(profile: &HeapProfile, one: &HeapUse) -> bool {
    profile.kind(one) != "executable"
}

/// Returns the devices with their bytes and counts, without the programs, which have no device.
fn devices(profile: &HeapProfile) -> Vec<(&str, u64, u64)> {
    profile.sums(|one| profile.device(one)).into_iter().filter(|(name, ..)| !name.is_empty()).collect()
}

/// Lists devices, kinds of memory and lines.
fn tables(profile: &HeapProfile) -> Vec<LogTable> {
    let sums = |title: &str, column: &str, sums: Vec<(&str, u64, u64)>| {
        LogTable::new(
            title,
            [column, "Memory", "Allocations"],
            sums.into_iter().map(|(name, bytes, count)| {
                vec![LogCell::Text(name.to_owned()), LogCell::Bytes(bytes), LogCell::Count(count)]
            }),
        )
    };
    let kinds: Vec<_> = { profile.sums(|one| profile.kind(one)).into_iter() }
        .map(|(kind, bytes, count)| (kind_words(kind), bytes, count))
        .collect();
    let devices = devices(profile);
    let mut tables = vec![line_table(profile)];
    tables.extend((devices.len() > 1).then(|| sums("Devices", "Device", devices)));
    tables.extend(profile.is_jax.then(|| sums("Kinds of memory", "Kind", kinds)));
    tables
}

fn kind_words(kind: &str) -> &str {
    match kind {
        "buffer" => "arrays",
        "executable" => "compiled programs",
        "" => "other",
        kind => kind,
    }
}

fn line_table(profile: &HeapProfile) -> LogTable {
    let has_devices = devices(profile).len() > 1;
    let row = |one: &HeapUse| {
        let called = match profile.called(one) {
            "" => LogCell::Nothing,
            called => LogCell::Text(called.to_owned()),
        };
        let device = has_devices.then(|| LogCell::Text(profile.device(one).to_owned()));
        let place = LogCell::Text(place(profile, one));
        [place, called]
            .into_iter()
            .chain(device)
            .chain([LogCell::Bytes(one.bytes), LogCell::Count(one.count)])
            .collect()
    };
    // Programs that are compiled have no size of their own where the device does not tell it.
    let uses: Vec<&HeapUse> = profile.uses.iter().filter(|one| one.bytes > 0).collect();
    let mut rows: Vec<Vec<LogCell>> = uses.iter().take(MOST_LINES).map(|one| row(one)).collect();
    let others = uses.get(MOST_LINES..).unwrap_or_default();
    if !others.is_empty() {
        let (bytes, count) = others.iter().fold((0_u64, 0_u64), |(bytes, count), one| {
            (bytes.saturating_add(one.bytes), count.saturating_add(one.count))
        });
        let name = LogCell::Text(format!("{} more", format::count(others.len() as u64)));
        let empty = std::iter::repeat_n(LogCell::Nothing, 1 + usize::from(has_devices));
        rows.push([name].into_iter().chain(empty).chain([LogCell::Bytes(bytes), LogCell::Count(count)]).collect());
    }
    let columns = ["Line of your code", "Called"].into_iter().chain(has_devices.then_some("Device"));
    LogTable::new("Live memory by line", columns.chain(["Memory", "Allocations"]), rows)
}

fn place(profile: &HeapProfile, one: &HeapUse) -> String {
    profile.own(one).map_or_else(|| "no line of your code".to_owned(), |line| line.place())
}

/// Returns the index of a device by its name in JAX, such as `gpu:1` or `cpu:0`.
fn device_index(name: &str) -> i64 {
    let (kind, index) = name.split_once(':').unwrap_or_default();
    match kind {
        "cpu" => HOST,
        "gpu" | "cuda" | "rocm" => index.parse::<u32>().map_or(NO_DEVICE, i64::from),
        _ => NO_DEVICE,
    }
}

/// Reports the line that holds the most memory.
fn largest(profile: &HeapProfile) -> Option<Finding> {
    let largest = profile.uses.iter().find(|one| one.bytes > 0)?;
    let (bytes, total) = (format::bytes(largest.bytes), format::bytes(profile.bytes()));
    let things = if profile.is_jax { "array" } else { "allocation" };
    let what = match largest.count {
        0 => String::new(),
        count => format!(" in {}", format::counted(count, things)),
    };
    let called = match profile.called(largest) {
        "" => String::new(),
        called => format!(", by `{called}`"),
    };
    let next = profile.uses.iter().filter(|one| one.bytes > 0).skip(1).take(2);
    let next: Vec<String> =
        next.map(|one| format!("{} from {}", format::bytes(one.bytes), place(profile, one))).collect();
    let next = if next.is_empty() { String::new() } else { format!(" Next are {}.", next.join(" and ")) };
    let share = format::percent(largest.bytes, profile.bytes());
    let stated = Finding::stated(
        FindingCode::Peak,
        if profile.is_jax { device_index(profile.device(largest)) } else { HOST },
        largest.bytes,
        match profile.own(largest) {
            Some(line) => title_of_parts(&format!("{} holds the most memory: {bytes}", line.place()), [what]),
            None => format!("Code outside of your own holds the most memory: {bytes}{what}"),
        },
        format!("That is {share} of the {total} that were live at that moment{called}.{next}"),
        if profile.is_jax { ADVICE_JAX } else { ADVICE }.to_owned(),
    );
    Some(Finding { line: profile.own(largest), ..stated })
}

const ADVICE_JAX: &str = "If that is more than expected, look for what still refers to these arrays: results in a list, or \
    old parameters and optimizer state beside the new ones, whose memory a step reuses with ``jax.jit(step, \
    donate_argnums=(0, 1))``.\n\
    Two profiles, some steps apart, show what grows.\n\n\
    A profile shows arrays between programs; what a program needs while it runs is in `jax.jit(step).lower(…).compile().memory_analysis()`.";

const ADVICE: &str = "Record a second profile later and compare both: what grows between them is what to look for.";

fn no_memory(profile: &HeapProfile) -> Finding {
    Finding::stated(
        FindingCode::TooLittleRecorded,
        NO_DEVICE,
        0,
        "The profile says nothing about memory".to_owned(),
        match profile.values.as_slice() {
            _ if profile.is_cut => "The file ends before the texts that name its values and places.".to_owned(),
            [] => "It names no values.".to_owned(),
            values => format!("Its values are {}.", values.join(", ")),
        },
        "[record] Record the memory: ``jax.profiler.save_device_memory_profile(\"memory.prof\")`` for JAX.\n\
         `go tool pprof` shows this profile."
            .to_owned(),
    )
}

/// Says what is missing in the profile.
fn notices(profile: &HeapProfile) -> Vec<LogNotice> {
    let mut notices = Vec::new();
    if profile.is_cut {
        let message = "The file ends early or is damaged: places and memory after that point are missing.";
        notices.push(LogNotice::warning(message));
    }
    if profile.left_out > 0 {
        let left_out = format::counted(profile.left_out, "entry");
        let message = format!("The profile is longer than can be kept, without {left_out}.");
        notices.push(LogNotice::warning(message));
    }
    notices
}
