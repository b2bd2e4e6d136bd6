//! Laws that hold for random programs: each mistake is told from its repair, whatever the model, its sizes and how often
//! it happens.

mod passes;

use super::programs::MODULE;
use super::*;
use crate::analysis::naive::Random;

/// Number of random programs for each law.
const CASES: u64 = 100;

/// Random model and how it is trained.
#[derive(Debug)]
struct Shape {
    /// Bytes of the output and of the weight of each layer, in units of 1 MiB and 64 KiB.
    layers: Vec<(u64, u64)>,
    steps: u64,
    /// The mistake happens in each step, or in each second or third one.
    every: u64,
}

impl Shape {
    fn of(random: &mut Random) -> Self {
        let count = 4 + random.below(8);
        let layers = (0..count).map(|layer| (1 + random.below(9), 3 + layer % 3 + 3 * random.below(4))).collect();
        Self { layers, steps: 12 + random.below(12), every: 1 + random.below(3) }
    }

    /// Returns the shape for a batch that is several times as large, with the same weights.
    fn larger(&self, times: u64) -> Self {
        let layers = self.layers.iter().map(|&(mib, weight)| (mib * times, weight)).collect();
        Self { layers, ..*self }
    }

    fn is_due(&self, step: u64) -> bool {
        step % self.every == self.every - 1
    }

    /// Writes the weights of a model, moved to the device.
    fn weights(&self, model: &str) -> String {
        self.of_weights(|layer, bytes| {
            format!("alloc w{layer}.{model} {bytes} @_apply@v/site-packages/torch/nn/modules/module.py<build:5<main\n")
        })
    }

    /// Writes a line for the weight of each layer, given its size in bytes.
    fn of_weights(&self, line: impl Fn(usize, u64) -> String) -> String {
        self.layers.iter().enumerate().map(|(layer, &(_, weight))| line(layer, weight << 16)).collect()
    }

    /// Writes a call of the model; without gradients, each layer frees the output of the one before.
    fn call(&self, name: &str, spine: &str, has_gradients: bool) -> String {
        let layer = |(layer, &(mib, _)): (usize, &(u64, u64))| {
            let inside = format!("m.py<{MODULE}<{spine}");
            let freed = if has_gradients || layer == 0 { None } else { Some(format!("free a{}.{name}\n", layer - 1)) };
            format!(
                "alloc t{layer}.{name} 1MiB @t{layer}@{inside}\nalloc a{layer}.{name} {mib}MiB @f{layer}@{inside}\n\
                 free t{layer}.{name}\n{}",
                freed.unwrap_or_default()
            )
        };
        self.layers.iter().enumerate().map(layer).collect()
    }

    /// Writes the part of backward that computes the gradients of a call and frees its graph.
    fn backward(&self, name: &str, gradients: Option<&str>) -> String {
        let layer = |layer: usize| {
            let gradient = |model: &str| format!("alloc g{layer}.{model} {}\n", self.layers[layer].1 << 16);
            gradients.map(gradient).unwrap_or_default() + &format!("free a{layer}.{name}\n")
        };
        (0..self.layers.len()).rev().map(layer).collect()
    }

    /// Writes a step; `before` comes before the model is called, `backward` is the rest of backward.
    fn step(&self, step: u64, before: &str, backward: &str) -> String {
        let name = format!("{step}");
        let state =
            |layer, bytes| format!("alloc s{layer}.{step} {bytes} @_init_group@torch/optim/adam.py<train:14<main\n");
        let cleared: String = (0..self.layers.len()).map(|layer| format!("free g{layer}.{name}\n")).collect();
        [
            format!("alloc x.{name} 1MiB @at::_ops::to_dtype_layout::call()@a.cpp<train:10<main\n"),
            before.to_owned(),
            self.call(&name, "train:11<main", true),
            format!("alloc l.{name} 4 @mse_loss@v/torch/nn/functional.py<train:12<main\n"),
            format!("alloc one.{name} 4 @backward@v/torch/_tensor.py<train:13<main\n"),
            self.backward(&name, Some(&name)),
            backward.to_owned(),
            if step == 0 { self.of_weights(state) } else { String::new() },
            format!("alloc u.{name} 1MiB @step@torch/optim/adam.py<train:14<main\nfree u.{name}\n{cleared}"),
            format!("free one.{name}\nfree l.{name}\nfree x.{name}\n"),
        ]
        .concat()
    }

    fn training(&self, step: impl Fn(u64) -> String) -> String {
        self.weights("m") + &(0..self.steps).map(step).collect::<String>()
    }
}

/// Returns random shapes with their seeds, and what makes further choices.
fn shapes() -> impl Iterator<Item = (u64, Shape, Random)> {
    (0..CASES).map(|seed| {
        let mut random = Random::new(seed);
        (seed, Shape::of(&mut random), random)
    })
}

/// Writes the lines of a text for which `is_there` holds.
fn lines_of(text: &str, is_there: impl Fn(&str) -> bool) -> String {
    text.lines().filter(|line| is_there(line)).map(|line| line.to_owned() + "\n").collect()
}

/// Checks a law: the first problem of the mistake and its line, none of the repair.
#[track_caller]
fn law(expected: (FindingCode, u64), programs: impl Fn(&Shape, &mut Random) -> (String, String)) {
    for (seed, shape, mut random) in shapes() {
        let (bad, good) = programs(&shape, &mut random);
        let found = findings_in(&bad);
        let first = found.first().map(|found| (found.code, found.line.as_ref().map_or(0, |line| line.line)));
        assert_eq!(first, Some(expected), "seed {seed}, {shape:?}: {:?}", found.first());
        assert!(found[0].severity > Severity::Info, "seed {seed}, {shape:?}: {:?}", found[0]);
        let blamed = codes_in(&good);
        assert_eq!(blamed, [], "seed {seed}, {shape:?}");
        let rest_bytes = found[0].at_peak.rest_bytes;
        if rest_bytes > 0 {
            // What a step keeps is part of the step itself, and only of later ones it is left over.
            let (least, own) = (live_peak(&good), shape.layers.iter().map(|(mib, _)| (mib + 1) << 20).sum::<u64>());
            assert!(rest_bytes <= least + own, "seed {seed}: {rest_bytes}, repaired {least} + {own}");
            assert!(rest_bytes + found[0].at_peak.bytes >= live_peak(&bad), "seed {seed}: {:?}", found[0].at_peak);
        }
    }
}

fn live_peak(source: &str) -> u64 {
    let trace = text::parse(source).unwrap();
    Timeline::new(&trace, &trace.devices[0]).live_peak().1
}

/// Frees all outputs of a call.
fn freed(shape: &Shape, name: &str) -> String {
    shape.backward(name, None)
}

#[test]
fn a_graph_that_is_freed_without_backward_was_for_nothing() {
    law((FindingCode::EvaluationWithGraph, 30), |shape, random| {
        let calls = 1 + random.below(4);
        let sampled = |has_gradients: bool| {
            let sample = |step: u64| {
                let names: Vec<String> = (0..calls).map(|call| format!("{step}.s{call}")).collect();
                let call = |name: &String| {
                    format!("alloc n.{name} 64KiB @draw:29<train:20<main\n")
                        + &shape.call(name, "draw:30<train:20<main", has_gradients)
                };
                let free = |name: &String| match has_gradients {
                    true => freed(shape, name) + &format!("free n.{name}\n"),
                    false => format!("free a{}.{name}\nfree n.{name}\n", shape.layers.len() - 1),
                };
                let noise = format!("alloc y.{step} 64KiB @draw:31<train:20<main\nfree y.{step}\n");
                names.iter().map(call).chain([noise]).chain(names.iter().map(free)).collect::<String>()
            };
            let extra = |step| if shape.is_due(step) { sample(step) } else { String::new() };
            shape.training(|step| shape.step(step, "", "") + &extra(step))
        };
        (sampled(true), sampled(false))
    });
}

#[test]
fn an_evaluation_that_adds_up_its_losses_has_no_backward() {
    law((FindingCode::EvaluationWithGraph, 30), |shape, random| {
        let (calls, at) = (4 + random.below(5), shape.steps / 3);
        let evaluated = |has_gradients: bool| {
            let names: Vec<String> = (0..calls).map(|call| format!("e{call}")).collect();
            let pass = |name: &String| {
                let bring = format!("alloc n.{name} 64KiB @at::_ops::to_dtype_layout::call()@a.cpp<main:29\n");
                let result = format!("free a{}.{name}\n", shape.layers.len() - 1);
                let end = if has_gradients { String::new() } else { result };
                bring + &shape.call(name, "main:30", has_gradients) + &end + &format!("free n.{name}\n")
            };
            // The sum gets another value when a later backward has ended, before the program allocates again.
            let ended = |name: &String| if has_gradients { freed(shape, name) } else { String::new() };
            shape.training(|step| {
                let backward = if step == at + 3 { names.iter().map(ended).collect() } else { String::new() };
                let evaluation = if step == at { names.iter().map(pass).collect() } else { String::new() };
                shape.step(step, "", &backward) + &evaluation
            })
        };
        (evaluated(true), evaluated(false))
    });
}

#[test]
fn a_training_whose_loss_fails_now_and_then_is_no_evaluation() {
    for (seed, shape, _) in shapes() {
        let every = shape.every + 1;
        let training = shape.training(|step| {
            let name = format!("{step}");
            let failed = || shape.call(&name, "train:11<main", true) + &freed(&shape, &name);
            if step % every == every - 1 { failed() } else { shape.step(step, "", "") }
        });
        let found = codes_in(&training);
        assert!(
            found.iter().all(|found| found.0 != FindingCode::EvaluationWithGraph),
            "seed {seed}, {shape:?}: {found:?}"
        );
    }
}

#[test]
fn what_a_policy_collects_is_trained_on() {
    const INSIDE: &str = "act:30<decorate_context@v/site-packages/torch/utils/_contextlib.py<main:20";
    for (seed, shape, mut random) in shapes() {
        let calls = 4 + random.below(5);
        let name = |step: u64, call: u64| format!("{step}.c{call}");
        let collected = |is_trained_on: bool| {
            let act = |step: u64, call: u64| {
                let name = name(step, call);
                format!("alloc n.{name} 64KiB @at::_ops::to_dtype_layout::call()@a.cpp<main:29\n")
                    + &shape.call(&name, INSIDE, false)
                    + &format!(
                        "free a{}.{name}\nalloc r.{name} 8MiB @act:31<main:20\nfree n.{name}\n",
                        shape.layers.len() - 1
                    )
            };
            let free = |step: u64| (0..calls).map(|call| format!("free r.{}\n", name(step, call))).collect::<String>();
            shape.training(|step| {
                let is_due = step % 4 == 2;
                let acted: String =
                    if is_due { (0..calls).map(|call| act(step, call)).collect() } else { String::new() };
                let read = if is_due && !is_trained_on { free(step) } else { String::new() };
                let gone = if is_trained_on && step % 4 == 1 && step > 4 { free(step - 3) } else { String::new() };
                acted + &read + &shape.step(step, "", "") + &gone
            })
        };
        let is_blamed =
            |text: &str| codes_in(text).iter().any(|found| found.0 == FindingCode::EvaluationOutputsCollected);
        assert!(!is_blamed(&collected(true)), "seed {seed}, {shape:?}");
        assert!(is_blamed(&collected(false)), "seed {seed}, {shape:?}");
    }
}

#[test]
fn an_optimizer_that_steps_no_more_keeps_its_state() {
    for (seed, shape, _) in shapes() {
        let half = shape.steps / 2;
        let trained = |is_kept: bool| {
            shape.training(|step| {
                let text = shape.step(step, "", "");
                if step < half {
                    return text;
                }
                let state = |layer, bytes| {
                    format!("alloc z{layer}.{step} {bytes} @_init_group@torch/optim/adam.py<tune:24<main\n")
                };
                let old = shape.of_weights(|layer, _| format!("free s{layer}.0\n"));
                let switch = || shape.of_weights(state) + if is_kept { "" } else { &old };
                let first = if step == half { switch() } else { String::new() };
                first + &text.replace("train:14<main", "tune:24<main")
            })
        };
        let state_bytes: u64 = shape.layers.iter().map(|(_, weight)| weight << 16).sum();
        if state_bytes * 20 < live_peak(&trained(true)) {
            // Too little to matter.
            continue;
        }
        let first = |is_kept| codes_in(&trained(is_kept)).first().copied();
        assert_eq!(first(true), Some((FindingCode::OptimizerLeft, Severity::Warning)), "seed {seed}, {shape:?}");
        assert_eq!(first(false), None, "seed {seed}, {shape:?}");
    }
}

#[test]
fn optimizers_that_take_turns_are_needed() {
    for (seed, shape, _) in shapes() {
        let training = shape.training(|step| {
            let text = shape.step(step, "", "");
            let state =
                |layer, bytes| format!("alloc z{layer}.{step} {bytes} @_init_group@torch/optim/adam.py<tune:24<main\n");
            let first = if step == shape.steps / 4 { shape.of_weights(state) } else { String::new() };
            let is_other = step * 4 / shape.steps % 2 == 1;
            first + &if is_other { text.replace("train:14<main", "tune:24<main") } else { text }
        });
        assert_eq!(finding_of(&training, FindingCode::OptimizerLeft), None, "seed {seed}, {shape:?}");
    }
}

#[test]
fn a_cycle_keeps_tensors_until_garbage_is_collected() {
    for (seed, shape, mut random) in shapes() {
        let every = 2 + random.below(3);
        let which = (0..shape.layers.len()).max_by_key(|&layer| shape.layers[layer].0).unwrap_or(0);
        let is_of_cycle = |line: &str| line.starts_with(&format!("free a{which}."));
        let training = |has_cycle: bool| {
            shape.training(|step| {
                let text = shape.step(step, "", "");
                let kept = lines_of(&text, |line| !has_cycle || !is_of_cycle(line));
                // Some of what is old enough is freed, and as much stays.
                let old = (step.saturating_sub(6)..step.saturating_sub(6 - every)).filter(|_| step >= 6);
                let freed = |old: u64| format!("free a{which}.{old}\n");
                kept + &if has_cycle && step % every == 0 { old.map(freed).collect() } else { String::new() }
            })
        };
        let said = |text: &str| findings_in(text).iter().any(|found| found.title.starts_with("Reference cycles keep"));
        assert!(!said(&training(false)), "seed {seed}, {shape:?}");
        assert!(said(&training(true)), "seed {seed}, {shape:?}");
    }
}

/// Writes a training in which tensors of some steps stay.
fn keeping(shape: &Shape, is_kept: impl Fn(&str) -> bool) -> String {
    shape.training(|step| {
        let stays = |line: &str| line.starts_with("free a") && is_kept(line) && shape.is_due(step);
        lines_of(&shape.step(step, "", ""), |line| !stays(line))
    })
}

#[test]
fn a_graph_keeps_all_that_backward_would_have_freed() {
    law((FindingCode::GraphsKept, 11), |shape, random| {
        // The last layers of a pass may belong to a loss that backward passed by.
        let from = random.below(shape.layers.len() as u64 / 2);
        let is_of_graph = |line: &str| (from..32).any(|layer| line.starts_with(&format!("free a{layer}.")));
        (keeping(shape, is_of_graph), shape.training(|step| shape.step(step, "", "")))
    });
}

#[test]
fn a_function_keeps_single_tensors_of_a_pass() {
    let apply = |text: String, layer: usize| {
        text.replace(&format!("@f{layer}@m.py<"), &format!("@f{layer}@m.py<apply@v/torch/autograd/function.py<"))
    };
    for (seed, shape, _) in shapes() {
        let which = [0, 2, 3];
        let is_kept = |line: &str| which.iter().any(|layer| line.starts_with(&format!("free a{layer}.")));
        let text = which.iter().fold(keeping(&shape, is_kept), |text, &layer| apply(text, layer));
        let found = findings_in(&text);
        assert!(found[0].title.starts_with("An autograd function keeps"), "seed {seed}, {shape:?}: {:?}", found[0]);
    }
}

#[test]
fn copies_have_the_sizes_of_weights() {
    law((FindingCode::CopiesKept, 40), |shape, random| {
        let (numerator, denominator) = [(1, 1), (1, 2), (2, 1)][random.below(3) as usize];
        let inside = [format!("m.py<{MODULE}<train:11<main"), "train.py<train:16<main".to_owned()];
        let inside = &inside[random.below(2) as usize];
        let copied = |keeps_older: bool| {
            let copies = |step: u64| {
                let copy = |layer, bytes| {
                    format!(
                        "alloc c{layer}.{step} {} @cast@c.py:40<forward@{inside}\n",
                        bytes * numerator / denominator
                    )
                };
                let older = step.checked_sub(shape.every).filter(|_| !keeps_older);
                let free = |older| shape.of_weights(|layer, _| format!("free c{layer}.{older}\n"));
                shape.of_weights(copy) + &older.map(free).unwrap_or_default()
            };
            let before = |step| if shape.is_due(step) { copies(step) } else { String::new() };
            shape.training(|step| shape.step(step, &before(step), ""))
        };
        (copied(true), copied(false))
    });
}

#[test]
fn a_model_that_grows_is_trained_as_a_whole() {
    law((FindingCode::ModelsKept, 5), |shape, _| {
        let growing = |is_trained: bool| {
            let stage = |step: u64| step / shape.every;
            let added = |step: u64| {
                let is_new = shape.is_due(step);
                if is_new { shape.weights(&format!("n{}", stage(step))) } else { String::new() }
            };
            let gradients = |step: u64| -> String {
                let trained = (0..stage(step)).filter(|_| is_trained);
                trained
                    .map(|part| shape.of_weights(|layer, bytes| format!("alloc p{layer}.{part}.{step} {bytes}\n")))
                    .collect()
            };
            let cleared = |step: u64| -> String {
                let trained = (0..stage(step)).filter(|_| is_trained);
                trained.map(|part| shape.of_weights(|layer, _| format!("free p{layer}.{part}.{step}\n"))).collect()
            };
            shape.training(|step| shape.step(step, "", &gradients(step)) + &cleared(step) + &added(step))
        };
        (growing(false), growing(true))
    });
}

#[test]
fn weights_without_an_optimizer_belong_to_the_call_that_leads_to_their_gradients() {
    law((FindingCode::GradientsStay, 50), |shape, random| {
        // A copy of the model has gradients of the same sizes.
        let other = Shape::of(random).layers;
        let mut layers = if random.below(2) == 0 { shape.layers.clone() } else { other };
        if random.below(3) == 0 {
            // Small weights with large activations, as of an encoder of pictures.
            layers.iter_mut().for_each(|layer| *layer = (layer.0 + 20, 1));
        }
        let teacher = Shape { layers, ..*shape };
        let distilled = |has_gradients: bool| {
            let call = |step: u64| teacher.call(&format!("{step}.t"), "train:50<main", has_gradients);
            let backward = |step: u64| match (has_gradients, step) {
                (true, 0) => teacher.backward("0.t", Some("t")),
                (true, _) => freed(&teacher, &format!("{step}.t")),
                (false, _) => format!("free a{}.{step}.t\n", teacher.layers.len() - 1),
            };
            teacher.weights("t") + &shape.training(|step| shape.step(step, &call(step), &backward(step)))
        };
        (distilled(true), distilled(false))
    });
}

#[test]
fn a_batch_that_becomes_larger_is_not_added_to() {
    law((FindingCode::TensorGrows, 20), |shape, random| {
        // What the program makes in each step has no frame that names an operation, or one that joins tensors.
        let made = ["train:20", "at::_ops::cat::call()@a.cpp<train:20"][random.below(2) as usize];
        let (first, rise) = (1 + random.below(8), 1 + random.below(4));
        let growing = |with_the_model: bool| {
            shape.training(|step| {
                let times = first + rise * step;
                let older = step.checked_sub(1).map(|older| format!("free all.{older}\n")).unwrap_or_default();
                let own = format!("alloc all.{step} {times}MiB @{made}<main\n{older}");
                let pass = shape.larger(if with_the_model { times } else { 1 });
                pass.step(step, &own, "")
            })
        };
        (growing(false), growing(true))
    });
}

#[test]
fn graphs_that_share_a_pool_are_not_accused() {
    law((FindingCode::CudaGraphsLarge, 47), |shape, random| {
        let captures = 3 + random.below(6) as usize;
        let captured = |pool: &dyn Fn(usize) -> usize| {
            let capture = |graph: usize| {
                let layer = |(layer, &(mib, _)): (usize, &(u64, u64))| {
                    let stack = format!("@f{layer}@m.py<{MODULE}<capture:47<main");
                    let name = format!("P{layer}.{graph}");
                    format!("segment_alloc {name} {}MiB {stack}\nalloc {name} {}MiB {stack}\n", mib * 16, mib * 16)
                };
                let layers: String = shape.layers.iter().enumerate().map(layer).collect();
                format!("alloc x.{graph} 1MiB @capture:38<__init__:35<main\n{layers}")
            };
            let segment = |graph: usize| -> String {
                let of_layer = |(layer, &(mib, _)): (usize, &(u64, u64))| {
                    let stack = format!("@f{layer}@m.py<{MODULE}<capture:47<main");
                    let (name, size) = (format!("P{layer}.{graph}"), mib * 16);
                    format!("segment {name} {size}MiB pool={} {stack}\nblock {name} {size}MiB\n", pool(graph))
                };
                shape.layers.iter().enumerate().map(of_layer).collect()
            };
            shape.weights("m") + &(0..captures).map(capture).chain((0..captures).map(segment)).collect::<String>()
        };
        (captured(&|graph| graph + 1), captured(&|_| 1))
    });
}

#[test]
fn tensors_of_backward_that_stay_with_their_pass_are_of_higher_order() {
    for (seed, shape, _) in shapes() {
        let kept = keeping(&shape, |_| true);
        let with_second: String = kept
            .lines()
            .map(|line| {
                let second = line.strip_prefix("alloc one.").and_then(|rest| rest.split(' ').next());
                let second = second.filter(|step| shape.is_due(step.parse().expect("a step")));
                second.map_or_else(|| format!("{line}\n"), |step| format!("{line}\nalloc h.{step} 5MiB\n"))
            })
            .collect();
        for (text, is_higher) in [(kept, false), (with_second, true)] {
            let found = findings_in(&text);
            let is_told = found[0].title.contains("that of its gradients");
            assert!(found[0].code == FindingCode::GraphsKept && is_told == is_higher, "seed {seed}: {:?}", found[0]);
        }
    }
}

#[test]
fn a_big_thing_and_its_backward_are_one_line() {
    for (seed, shape, mut random) in shapes() {
        let (mib, has_backward, is_used_up) = (400 + random.below(400), random.below(3) > 0, random.below(2) == 0);
        let step = |step: u64| {
            let made = format!("alloc p.{step} {mib}MiB @pairs@m.py:28<forward@m.py<{MODULE}<train:11<main\n");
            let gradient = |name: &str| format!("alloc {name}.{step} {mib}MiB\n");
            let freed = format!("free p.{step}\n");
            let (table, backward) = match (has_backward, is_used_up) {
                (false, _) => (made, freed),
                (true, false) => (made, gradient("q") + &format!("free q.{step}\n") + &freed),
                // Backward needs its shape alone, as that of an index does.
                (true, true) => {
                    (made + &freed, gradient("q") + &gradient("r") + &format!("free q.{step}\nfree r.{step}\n"))
                }
            };
            shape.step(step, &table, &backward)
        };
        let peak = |text: &str| finding_of(text, FindingCode::Peak).expect("each trace has a peak");
        let found = peak(&shape.training(step));
        let line = found.line.as_ref().map(|line| line.line);
        assert!(line == Some(28) && found.title.contains("backward") == has_backward, "seed {seed}: {found:?}");
        assert_eq!(peak(&shape.training(|step| shape.step(step, "", ""))).line, None, "seed {seed}");
    }
}

#[test]
fn a_convolution_without_cudnn_is_named() {
    law((FindingCode::ConvolutionUnfolded, 32), |shape, random| {
        // The columns are the peak.
        let mib = 2 * shape.layers.iter().map(|(mib, _)| mib + 1).sum::<u64>() + random.below(400);
        let convolved = |kernel: &str| {
            let columns = |step: u64| {
                format!(
                    "alloc c.{step} {mib}MiB @at::native::{kernel}@a.cpp<forward@m.py:32<{MODULE}<train:11<main\n\
                     free c.{step}\n"
                )
            };
            shape.training(|step| shape.step(step, &columns(step), ""))
        };
        (convolved("slow_conv_dilated3d_cuda"), convolved("cudnn_convolution"))
    });
}
