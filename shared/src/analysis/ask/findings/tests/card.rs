//! Tests findings about out-of-memory errors, memory outside PyTorch, and cards that are too small.

use super::*;

#[test]
fn the_reason_of_an_out_of_memory_is_told() {
    let text = "
        segment_alloc 0x10000000 100MiB
        alloc 0x10000000 10MiB @layer
        alloc 0x12000000 10MiB @layer
        oom 40MiB free=1MiB @head
        segment 0x10000000 100MiB
        block 0x10000000 10MiB
        block 0x12000000 10MiB
    ";
    let found = findings_in(text);
    assert_eq!(found[0].code, FindingCode::OutOfMemory);
    assert_eq!(found[0].title, "Out of memory: tried to allocate 40.0 MiB, 1.00 MiB free, in head (main.py:1)");
    assert!(found[0].advice.text().contains("combine the 80.0 MiB of free memory"), "{}", found[0].advice.text());
}

#[test]
fn memory_that_waits_for_a_stream_is_told() {
    let advice = |middle: &str, end: &str| {
        let text = format!(
            "segment_alloc S 100MiB\nalloc S 60MiB @layer\nalloc b 30MiB @layer\nfree b\n{middle}oom 40MiB free=1MiB @head\n\
             {end}segment S 100MiB\nblock S 100MiB inactive\n"
        );
        let found = findings_in(&text);
        found[0].advice.text()
    };
    let wait = "Call `torch.cuda.synchronize()` and try again: 60.0 MiB was freed, and only waited for other streams";
    assert!(advice("free_requested S 60MiB\n", "free_completed S 60MiB\n").contains(wait));
    assert!(!advice("free S 60MiB\n", "").contains("synchronize"));
    assert!(!advice("", "free S 60MiB\n").contains("synchronize"));
}

#[test]
fn a_failure_after_which_its_code_goes_on_is_a_note() {
    let severity = |after: &str| {
        let text = format!("alloc a 60MiB @layer\noom 40MiB free=1MiB @head<main\nfree a\n{after}");
        finding_of(&text, FindingCode::OutOfMemory).map(|found| (found.severity, found.title.contains("went on")))
    };
    assert_eq!(severity("alloc b 10MiB @head<main\n"), Some((Severity::Info, true)));
    assert_eq!(severity("alloc b 10MiB @report<main\n"), Some((Severity::Error, false)));
}

#[test]
fn places_that_fail_often_are_one_finding() {
    let text =
        "alloc a 1MiB @layer\n".to_owned() + &"oom 40MiB free=1MiB @head\n".repeat(30) + "oom 50MiB free=1MiB @head";
    let found = findings_in(&text);
    let titles: Vec<_> =
        found.iter().filter(|row| row.code == FindingCode::OutOfMemory).map(|row| row.title.as_str()).collect();
    assert_eq!(titles.len(), 2, "{titles:?}");
    assert!(titles.iter().any(|title| title.starts_with("Out of memory 30 times:")), "{titles:?}");
}

#[test]
fn remedies_of_a_failure_are_tried() {
    // In each of ten segments a block is freed next to one that stays: there is room for 45 MiB, but not in one piece.
    let each = |line: &dyn Fn(usize) -> String| (0..10).map(line).collect::<String>();
    let allocs = each(&|name| format!("segment_alloc S{name} 20MiB\nalloc S{name} 9MiB @a\nalloc b{name} 9MiB @b\n"));
    let frees = each(&|name| format!("free S{name}\n"));
    let segments = each(&|name| format!("segment S{name} 20MiB\nblock S{name} 20MiB inactive\n"));
    let text = allocs + &frees + "oom 45MiB free=40MiB @head\n" + &segments;
    let oom = finding_of(&text, FindingCode::OutOfMemory).unwrap();
    let stuck = "this free memory was left, but the request could not use it: 110 MiB in free ranges too small for the \
                 request.";
    assert!(oom.evidence.shows.ends_with(stuck), "{}", oom.evidence.shows);
    let enough = "Set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`: in a replay of the recording, the requests up \
                  to the error then succeed, with at least 240 MiB reserved; it is not known whether the rest";
    assert!(oom.advice.text().starts_with(enough), "{}", oom.advice.text());
}

#[test]
fn settings_that_do_not_help_are_named() {
    let text = "segment_alloc S 40MiB\nalloc S 40MiB @a\noom 30MiB free=20MiB @head\nsegment S 40MiB\nblock S 40MiB";
    let found = findings_in(text);
    let in_vain = "A replay of the recording with `expandable_segments:True` or `max_split_size_mb:128` or";
    assert!(found[0].advice.text().contains(in_vain), "{}", found[0].advice.text());
    assert!(found[0].evidence.shows.ends_with("it held no free memory."), "{found:?}");
}

/// Returns the first finding of a kind where the memory of the card may be known.
fn on_card(text: &str, capacity_gib: Option<u64>, code: FindingCode) -> Option<Finding> {
    let config = FindingsConfig { capacity_bytes: capacity_gib.map(|gib| gib << 30), ..Default::default() };
    found_with(text, &config).into_iter().find(|finding| finding.code == code)
}

/// Writes a training with weights of 100 MiB, whose steps keep an activation of each of ten layers; the last step runs
/// out of memory in its layer `failed`, with `batch` times the memory of the others.
fn steps_and_a_failure(steps: usize, failed: usize, batch: u64, free_mib: u64) -> String {
    let layers = |step: usize, layers: usize, mib: u64| -> String {
        (0..layers).map(|layer| format!("alloc a{step}.{layer} {mib}MiB @layer<forward@phase\n")).collect()
    };
    let step = |step: usize| {
        let backward = |layer: usize| format!("alloc g{step}.{layer} 1MiB @g<backward@phase\nfree a{step}.{layer}\n");
        let update: String = (0..10).map(|layer| format!("free g{step}.{layer}\n")).collect();
        layers(step, 10, 10)
            + &(0..10).rev().map(backward).collect::<String>()
            + &format!("alloc t{step} 1MiB @optimizer@phase\nfree t{step}\n")
            + &update
    };
    let trace = "alloc w 100MiB @setup@phase\n".to_owned() + &(0..steps).map(step).collect::<String>();
    let mib = 10 * batch;
    trace
        + &layers(steps, failed, mib)
        + &format!("oom {mib}MiB free={free_mib}MiB @layer<forward@phase\nsegment S 220MiB\n")
}

#[test]
fn a_failed_step_is_measured_by_one_that_was_whole() {
    let oom = finding_of(&steps_and_a_failure(3, 4, 3, 25), FindingCode::OutOfMemory).unwrap();
    // Ten layers of 30 MiB beside the weights of 100 MiB, where 245 MiB are there: 145 of 300 MiB.
    assert!(oom.advice.why.contains("needs about 403 MiB."), "{}", oom.advice.why);
    let steps: Vec<_> = oom.advice.steps.iter().map(|step| step.text.as_str()).collect();
    assert!(steps[0].starts_with("Use about 48 % of the batch"), "{steps:?}");
    assert!(!oom.advice.text().contains("succeed"), "{}", oom.advice.text());
}

#[test]
fn memory_that_ran_out_in_forward_is_not_for_want_of_a_backward() {
    let found = findings_in(&steps_and_a_failure(0, 4, 1, 5));
    let texts: Vec<_> = found.iter().map(|row| row.advice.text()).collect();
    assert!(!texts.iter().any(|text| text.contains("record the backward pass")), "{texts:?}");
    let oom = found.iter().find(|row| row.code == FindingCode::OutOfMemory).unwrap();
    assert!(oom.advice.why.contains("What followed is not known"), "{}", oom.advice.why);
    assert!(!oom.advice.text().contains("of the batch"), "{}", oom.advice.text());
}

#[test]
fn memory_outside_of_pytorch_is_told_where_the_card_is_known() {
    let text = "segment_alloc S 6GiB\nalloc S 6GiB\noom 3GiB free=1GiB\nsegment S 6GiB\nblock S 6GiB";
    let outside = |capacity_gib| {
        on_card(text, capacity_gib, FindingCode::OutsidePytorch).map(|found| (found.severity, found.bytes >> 30))
    };
    assert_eq!(outside(Some(12)), Some((Severity::Warning, 5)));
    assert_eq!((outside(Some(7)), outside(Some(6)), outside(None)), (None, None, None));
}

#[test]
fn a_card_that_is_too_small_is_named() {
    let text = "segment_alloc S 6GiB\nalloc S 4GiB\nsegment S 6GiB\nblock S 4GiB";
    let codes = |gib: u64| codes_with(text, &FindingsConfig { capacity_bytes: Some(gib << 30), ..Default::default() });
    let has = |gib: u64, code: FindingCode| codes(gib).iter().any(|row| row.0 == code);
    assert!(has(3, FindingCode::CardTooSmall) && has(5, FindingCode::CardTooSmall), "{:?}", codes(5));
    assert!(has(6, FindingCode::CardNearlyFull) && !has(6, FindingCode::CardTooSmall));
    assert!(!has(8, FindingCode::CardNearlyFull));
}

#[test]
fn memory_that_is_reserved_in_vain_is_a_warning_where_the_card_is_full() {
    let text = "segment_alloc S 16GiB\nalloc S 4GiB @a\nsegment S 16GiB\nblock S 4GiB";
    let severity = |gib| on_card(text, gib, FindingCode::ReservedAboveLive).map(|found| found.severity);
    assert_eq!([Some(140), Some(24)].map(severity), [Some(Severity::Info); 2]);
    assert_eq!([Some(16), None].map(severity), [Some(Severity::Warning); 2]);
}

#[test]
fn a_limit_that_pytorch_ignores_is_told() {
    let advice = |conf: &str| {
        let text = "segment_alloc S 16GiB\nalloc S 4GiB @a\nsegment S 16GiB\nblock S 4GiB";
        let mut trace = text::parse(text).unwrap();
        trace.settings.entries = vec![("PYTORCH_CUDA_ALLOC_CONF".to_owned(), Setting::Text(conf.to_owned()))];
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        let found = findings(&trace, &[(&trace.devices[0], &timeline)], &FindingsConfig::default());
        found.into_iter().find(|row| row.code == FindingCode::ReservedAboveLive).unwrap().advice.text()
    };
    assert!(advice("garbage_collection_threshold:0.6").contains("ignores `garbage_collection_threshold` unless"));
    for heeded in ["max_split_size_mb:64", "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9"] {
        assert!(!advice(heeded).contains("ignores"), "{heeded}");
    }
}
