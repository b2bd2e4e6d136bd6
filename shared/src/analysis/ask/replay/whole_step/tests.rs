//! Tests the estimates on trainings that are cut where memory runs out, of which the rest is known.

use super::*;
use crate::allocator::Settings;
use crate::analysis::ask::replay::{CardChoice, ReplayConfig, Sweep, SweepConfig};
use crate::analysis::ask::tests::Sample;
use hashbrown::HashMap;
use std::ops::Range;

const MIB: u64 = 1 << 20;

/// Request or free of a program, with the step that it is of.
struct Line {
    step: usize,
    name: String,
    /// Size in MiB and stack; `None` for a free.
    request: Option<(u64, &'static str)>,
}

/// Training with equal layers, whose batch grows from step to step by whole factors.
struct Program {
    lines: Vec<Line>,
    weights_mib: u64,
}

/// Stacks of the tensors that a layer keeps.
const KEPT: [&str; 6] = [
    "@norm<forward@phase",
    "@attend<forward@phase",
    "@project<forward@phase",
    "@gate<forward@phase",
    "@multiply<forward@phase",
    "@drop<forward@phase",
];

/// Stacks of the weights of a layer.
const WEIGHTS: [&str; 4] = ["@query<setup@phase", "@value<setup@phase", "@up<setup@phase", "@down<setup@phase"];

fn random(seed: &mut u64, range: Range<u64>) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    range.start + (*seed >> 33) % (range.end - range.start)
}

fn program(seed: &mut u64) -> Program {
    let (layers, steps) = (random(seed, 4..13), random(seed, 2..5) as usize);
    let kept: Vec<u64> = (0..random(seed, 4..7)).map(|_| random(seed, 1..9)).collect();
    let weights: Vec<u64> = (0..4).map(|_| random(seed, 1..4)).collect();
    let mut lines = Vec::new();
    let alloc = |step: usize, name: String, mib: u64, stack| Line { step, name, request: Some((mib, stack)) };
    let free = |step: usize, name: String| Line { step, name, request: None };
    for layer in 0..layers {
        let weight = |(index, &mib)| alloc(0, format!("w{layer}.{index}"), mib, WEIGHTS[index]);
        lines.extend(weights.iter().enumerate().map(weight));
    }
    let mut batch = 1;
    for step in 0..steps {
        batch += if step == 0 { 0 } else { random(seed, 0..3) };
        for layer in 0..layers {
            let activation = |(index, &mib)| alloc(step, format!("a{step}.{layer}.{index}"), mib * batch, KEPT[index]);
            lines.extend(kept.iter().enumerate().map(activation));
        }
        for layer in (0..layers).rev() {
            lines.push(alloc(step, format!("g{step}.{layer}"), weights.iter().sum(), "@gradient<backward@phase"));
            lines.extend((0..kept.len()).map(|index| free(step, format!("a{step}.{layer}.{index}"))));
        }
        for layer in 0..layers {
            if step == 0 {
                let state_mib = 2 * weights.iter().sum::<u64>();
                lines.push(alloc(step, format!("s{layer}"), state_mib, "@state<optimizer@phase"));
            }
            lines.push(alloc(step, format!("t{step}.{layer}"), 1, "@update<optimizer@phase"));
            lines.push(free(step, format!("t{step}.{layer}")));
        }
        lines.extend((0..layers).map(|layer| free(step, format!("g{step}.{layer}"))));
    }
    Program { lines, weights_mib: layers * weights.iter().sum::<u64>() }
}

impl Program {
    /// Returns the highest live MiB of each step.
    fn peaks(&self) -> Vec<u64> {
        let (mut live, mut peaks) = (0, Vec::new());
        let mut sizes: HashMap<&str, u64> = HashMap::new();
        for line in &self.lines {
            match line.request {
                Some((mib, _)) => live += *sizes.entry(&line.name).insert(mib).get(),
                None => live -= sizes[line.name.as_str()],
            }
            peaks.resize(line.step + 1, 0);
            peaks[line.step] = live.max(peaks[line.step]);
        }
        peaks
    }

    /// Runs it where it can have `capacity_mib`; returns what is recorded until a request fails, and the step of that.
    fn cut(&self, capacity_mib: u64) -> Option<(String, usize)> {
        let (mut recorded, mut live) = (String::new(), 0);
        let mut sizes: HashMap<&str, u64> = HashMap::new();
        for Line { step, name, request } in &self.lines {
            match *request {
                Some((mib, stack)) if live + mib > capacity_mib => {
                    recorded += &format!("oom {mib}MiB free={}MiB {stack}\n", capacity_mib - live);
                    for (name, mib) in &sizes {
                        recorded += &format!("segment {name} {mib}MiB\nblock {name} {mib}MiB\n");
                    }
                    return Some((recorded, *step));
                }
                Some((mib, stack)) => {
                    recorded += &format!("segment_alloc {name} {mib}MiB\nalloc {name} {mib}MiB {stack}\n");
                    sizes.insert(name, mib);
                    live += mib;
                }
                None => {
                    recorded += &format!("free {name}\nsegment_free {name}\n");
                    live -= sizes.remove(name.as_str()).unwrap();
                }
            }
        }
        None
    }
}

/// Sweeps over cards whose memory differs by a tenth of the limit; returns the smallest that is named, in bytes.
fn smallest_card(sample: &Sample, whole: &WholeStep, context_bytes: u64) -> Option<u64> {
    let card = |tenths: u64| CardChoice { name: tenths.to_string(), memory_bytes: whole.limit_bytes * tenths / 10 };
    let mut sweep = Sweep::new(SweepConfig {
        recorded: Settings::default(),
        capacity_bytes: Some(whole.limit_bytes),
        elsewhere_bytes: 0,
        cards: (5..60).map(card).collect(),
        card_elsewhere_bytes: context_bytes,
        whole_step: Some(whole.clone()),
    });
    let replayer = sample.replayer();
    while sweep.step(&replayer, None) {}
    sweep.report().smallest_card.as_ref().map(|card| card.memory_bytes)
}

#[test]
fn estimates_of_cut_trainings_hold_for_the_whole_ones() {
    let mut found: HashMap<&str, usize> = HashMap::new();
    let mut fitting = 0;
    for mut seed in 0..300 {
        let program = program(&mut seed);
        let peaks = program.peaks();
        let most = peaks.iter().copied().max().unwrap();
        let Some((recorded, step)) = program.cut(random(&mut seed, program.weights_mib + 1..most)) else { continue };
        let sample = Sample::of(&recorded);
        let (study, timeline) = (sample.study(), &sample.timeline);
        let whole = WholeStep::of(&study).unwrap();
        *found.entry(whole.basis.name()).or_default() += 1;
        let case = format!("seed {seed}, step {step} of {peaks:?} MiB: {whole:?}\n{recorded}");

        let (event, truth) = (whole.event as usize, peaks[..=step].iter().max().unwrap() * MIB);
        let asked_bytes = study.device.events.sizes_bytes().at(event);
        assert!(whole.bytes >= timeline.live_at(event as u32) + asked_bytes, "what failed is needed: {case}");
        assert!(whole.least_bytes <= truth, "what is certain is needed: {case}");
        assert!(whole.bytes >= truth || whole.basis == StepBasis::Unknown, "no less than is needed: {case}");

        let report = sample.replayer().replay(&ReplayConfig::unlimited(Settings::default()));
        for tenths in 5..60 {
            let usable_bytes = whole.limit_bytes * tenths / 10;
            let outlook = whole.outlook(&report, usable_bytes);
            assert!(outlook != Outlook::Fits || usable_bytes >= truth, "{usable_bytes} is said to suffice: {case}");
            fitting += usize::from(outlook == Outlook::Fits);
        }
        let context_bytes = whole.limit_bytes / 20;
        let card = smallest_card(&sample, &whole, context_bytes);
        assert!(card.is_none_or(|bytes| bytes - context_bytes > whole.limit_bytes), "the card that ran out: {case}");
        let is_enough = card.is_none_or(|bytes| bytes - context_bytes >= truth);
        assert!(is_enough || whole.basis == StepBasis::Unknown, "a card that runs out again: {case}");
        if let Some(factor) = whole.batch_factor(whole.limit_bytes) {
            assert!(factor < 1.0, "the whole batch did not fit: {case}");
        }
    }
    for basis in ["earlier-step", "layers", "first-update"] {
        assert!(found.get(basis).is_some_and(|&count| count >= 10), "{found:?}");
    }
    assert!(fitting > 100);
}

#[test]
fn a_recording_without_an_error_has_no_such_step() {
    assert_eq!(WholeStep::of(&Sample::of("alloc a 1MiB").study()), None);
}

#[test]
fn layers_are_the_run_with_the_most_bytes() {
    let tensors = |sizes: &[u64]| sizes.iter().map(|&bytes| (0, bytes)).collect::<Vec<_>>();
    let found = |sizes: &[u64]| repeated(&tensors(sizes)).map(|found| (found.rounds(), found.period, found.run));
    assert_eq!(found(&[9, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 8]), Some((2, 4, 1..11)));
    assert_eq!(found(&[9, 1, 1, 1, 5, 1, 1, 1, 5, 1, 1, 1, 5]), Some((3, 4, 1..13)), "not three equal matrices");
    assert_eq!((found(&[7, 1, 2, 1, 2, 7]), found(&[1, 2, 3]), found(&[])), (None, None, None));
}

/// Sizes of GPT-2 medium in 32 bits, with 8 sequences of 1,024 tokens.
#[test]
fn the_loss_is_told_by_the_sizes_of_tensors() {
    let (tokens, width, words) = (8 * 1024, 1024, 50_257);
    let kept: Vec<Tensor> = [1, 3, 1, 4].repeat(3).iter().map(|of| (0, of * tokens * width * 4)).collect();
    let layer = [1, 1, 3 * width, 3, width, 1, 1, 1, 4 * width, 4, 4 * width, 1];
    let weights: Vec<Tensor> = [words].iter().chain(&layer.repeat(3)).map(|of| (0, of * width * 4)).collect();
    let (layers, of_model) = (repeated(&kept).unwrap(), repeated(&weights).unwrap());
    assert_eq!(loss_bytes((&kept, &layers), (&weights, &of_model)), 3 * tokens * words * 4);
    let without = [&[(0, width * 40)], &weights[1..]].concat();
    assert_eq!(loss_bytes((&kept, &layers), (&without, &of_model)), 0, "a few classes");
}
