//! Laws about the passes of several networks, and of several losses.

use super::*;

#[test]
fn a_graph_that_outlives_the_backward_of_another_is_noted() {
    for (seed, shape, _) in shapes() {
        let training = |has_gradients: bool| {
            let call = |step: u64| shape.call(&format!("{step}.d"), "train:50<main", has_gradients);
            let free = |step: u64| match has_gradients {
                true => freed(&shape, &format!("{step}.d")),
                false => format!("free a{}.{step}.d\n", shape.layers.len() - 1),
            };
            shape.training(|step| shape.step(step, &call(step), "") + &free(step))
        };
        let noted = |text: &str| {
            let found = finding_of(text, FindingCode::EvaluationWithGraph);
            found.map(|found| (found.severity, found.line.map(|line| line.line)))
        };
        assert_eq!(noted(&training(true)), Some((Severity::Info, Some(50))), "seed {seed}, {shape:?}");
        assert_eq!(noted(&training(false)), None, "seed {seed}, {shape:?}");
    }
}

#[test]
fn the_graphs_of_a_part_of_a_model_belong_to_the_line_that_calls_it() {
    law((FindingCode::GraphsKept, 65), |shape, _| {
        // A key encoder, whose results are written into a queue.
        let place = format!("forward@net.py:65<{MODULE}<train:11<main");
        let training = |has_gradients: bool| {
            let keys = |step: u64| {
                let last = format!("free a{}.{step}.k\n", shape.layers.len() - 1);
                shape.call(&format!("{step}.k"), &place, has_gradients) + if has_gradients { "" } else { &last }
            };
            shape.training(|step| shape.step(step, &keys(step), ""))
        };
        (training(true), training(false))
    });
}

#[test]
fn arithmetic_on_gradients_hides_no_graph() {
    law((FindingCode::GraphsKept, 40), |shape, random| {
        // Many small tensors of no module, as where the gradients of several losses are projected.
        let sums = shape.layers.len() as u64 * (40 + random.below(40));
        let training = |has_gradients: bool| {
            let step = |step: u64| {
                let kept = shape.call(&format!("{step}.k"), "act:40<train:11<main", has_gradients);
                let last = format!("free a{}.{step}.k\n", shape.layers.len() - 1);
                let sum = |sum| format!("alloc p{sum}.{step} 512 @project:73<train:20<main\nfree p{sum}.{step}\n");
                let extra = kept + if has_gradients { "" } else { &last } + &(0..sums).map(sum).collect::<String>();
                shape.step(step, &extra, "")
            };
            shape.training(step)
        };
        (training(true), training(false))
    });
}

#[test]
fn a_loop_before_training_keeps_the_graphs_of_all_its_rounds() {
    for (seed, shape, mut random) in shapes() {
        let rounds = 6 + random.below(12);
        let largest = shape.layers.iter().map(|layer| layer.0).max().unwrap_or(1);
        let warmed = |has_gradients: bool| {
            let round = |round: u64| {
                let place = format!("write:21<warm:7{}<main", round % 2);
                let inside = |layer: usize| format!("alloc c{layer}.{round} 1MiB @f{layer}@m.py<{MODULE}<{place}\n");
                let own = format!("alloc s.{round} {largest}MiB @index_copy@a.cpp<{place}\n");
                let gates = (0..3).map(|layer| format!("free c{layer}.{round}\n")).collect::<String>();
                let state = round.checked_sub(1).map(|last| format!("free s.{last}\n")).unwrap_or_default();
                let gone = if has_gradients { String::new() } else { gates + &state };
                format!("{}{own}{gone}", (0..3).map(inside).collect::<String>())
            };
            let kept = |round: u64| (0..3).map(move |layer| format!("free c{layer}.{round}\n"));
            let graphs: String = (0..rounds).flat_map(kept).collect();
            let states: String = (0..rounds).map(|round| format!("free s.{round}\n")).collect();
            let last = format!("free s.{}\n", rounds - 1);
            let loops: String = (0..rounds).map(round).collect();
            let gone = if has_gradients { graphs + &states } else { last };
            shape.training(
                |step| if step == 0 { loops.clone() + &gone } else { String::new() } + &shape.step(step, "", ""),
            )
        };
        let found = |text: &str| finding_of(text, FindingCode::EvaluationWithGraph);
        let told = found(&warmed(true)).map(|found| (found.severity, found.line.map(|line| line.function)));
        let main = Some((Severity::Warning, Some("main".to_owned())));
        if (rounds * (largest + 3)) << 20 >= live_peak(&warmed(true)) / 2 {
            assert_eq!(told, main, "seed {seed}, {shape:?}");
        }
        assert_eq!(found(&warmed(false)), None, "seed {seed}, {shape:?}");
    }
}

#[test]
fn hooks_that_are_registered_anew_run_more_often() {
    for (seed, shape, mut random) in shapes() {
        let epoch = 2 + random.below(3);
        let which = random.below(shape.layers.len() as u64) as usize;
        let call = format!("m.py<{MODULE}<train:11<main");
        let hook = "hook@probe.py<inner@v/site-packages/torch/nn/modules/module.py";
        let training = |is_again: bool| {
            let hooks = |step: u64| if is_again { 1 + step / epoch } else { 1 };
            shape.training(|step| {
                let layer = format!("@f{which}@{call}");
                let stored = (0..hooks(step)).map(|index| {
                    let old = step.checked_sub(1).filter(|&last| index < hooks(last));
                    let old = old.map(|last| format!("free k{index}.{last}\n")).unwrap_or_default();
                    format!("alloc k{index}.{step} 4MiB @{hook}<{MODULE}<train:11<main\n{old}")
                });
                let stored: String = stored.collect();
                let text = shape.step(step, "", "");
                text.lines()
                    .map(|line| format!("{line}\n") + if line.ends_with(&layer) { &stored } else { "" })
                    .collect()
            })
        };
        let told = |text: &str| {
            let found = findings_in(text).into_iter().find(|found| found.title.starts_with("Hooks are registered"));
            found.map(|found| found.line.map(|line| line.function))
        };
        if shape.steps >= 4 * epoch && live_peak(&training(true)) < 20 * (4 << 20) * (shape.steps / epoch) {
            assert_eq!(told(&training(true)), Some(Some("hook".to_owned())), "seed {seed}, {shape:?}");
        }
        assert_eq!(told(&training(false)), None, "seed {seed}, {shape:?}");
    }
}

#[test]
fn a_bank_of_results_keeps_their_graphs() {
    for (seed, shape, mut random) in shapes() {
        let length = 3 + random.below(4);
        let training = |has_gradients: bool| {
            let call = |step: u64| shape.call(&format!("{step}.k"), "train:61<main", has_gradients);
            let result = shape.layers.len() - 1;
            let free = |step: u64| match has_gradients {
                true => freed(&shape, &format!("{step}.k")),
                false => format!("free a{result}.{step}.k\n"),
            };
            let old = |step: u64| step.checked_sub(length).map(free).unwrap_or_default();
            shape.training(|step| shape.step(step, &(call(step) + &old(step)), ""))
        };
        let found = |text: &str| finding_of(text, FindingCode::EvaluationWithGraph);
        let told = found(&training(true)).map(|found| (found.severity, found.line.map(|line| line.line)));
        assert_eq!(told, Some((Severity::Warning, Some(61))), "seed {seed}, {shape:?}");
        assert_eq!(found(&training(false)), None, "seed {seed}, {shape:?}");
    }
}

#[test]
fn the_graph_of_one_network_of_three_may_outlive_its_step() {
    for (seed, shape, _) in shapes() {
        let training = |is_retained: bool| {
            let name = |step: u64, network: &str| format!("{step}.{network}");
            let old = |step: u64| step.checked_sub(1).map(|last| freed(&shape, &name(last, "d"))).unwrap_or_default();
            let before = |step: u64| {
                let discriminator = name(step, "d");
                let backward = shape.backward(&discriminator, Some(&discriminator));
                [
                    shape.call(&name(step, "g"), "train:59<main", true),
                    shape.call(&discriminator, "train:60<main", true),
                    if is_retained { old(step) } else { String::new() },
                    format!("alloc one.{discriminator} 4 @backward@v/torch/_tensor.py<train:62<main\n"),
                    lines_of(&backward, |line| !is_retained || line.starts_with("alloc")),
                    format!("free one.{discriminator}\n"),
                ]
                .concat()
            };
            let cleared = |step: u64| shape.of_weights(|layer, _| format!("free g{layer}.{step}.d\n"));
            shape.training(|step| shape.step(step, &before(step), &(freed(&shape, &name(step, "g")) + &cleared(step))))
        };
        let told = |text: &str| finding_of(text, FindingCode::GraphOutlivesStep).is_some();
        assert!(told(&training(true)) && !told(&training(false)), "seed {seed}, {shape:?}");
    }
}

#[test]
fn graphs_that_several_backwards_of_a_step_keep_add_up() {
    law((FindingCode::StateChained, 11), |shape, random| {
        let windows = 3 + random.below(5);
        let training = |is_retained: bool| {
            shape.training(|step| {
                let window = |window: u64| {
                    let name = format!("{step}.w{window}");
                    let gradients = format!("{step}");
                    let backward = shape.backward(&name, (window == 0).then_some(gradients.as_str()));
                    let backward = lines_of(&backward, |line| !(is_retained && line.starts_with("free a")));
                    let result = format!("alloc l.{name} 4 @mse_loss@v/torch/nn/functional.py<train:12<main\n");
                    let begin = format!("alloc one.{name} 4 @backward@v/torch/_tensor.py<train:13<main\n");
                    let own = format!("alloc h.{name} 1MiB\nfree h.{name}\n");
                    [shape.call(&name, "train:11<main", true), result, begin, own, backward].concat()
                        + &format!("free one.{name}\nfree l.{name}\n")
                };
                let names: Vec<String> = (0..windows).map(|window| format!("{step}.w{window}")).collect();
                let ended: String =
                    names.iter().map(|name| if is_retained { freed(shape, name) } else { String::new() }).collect();
                let cleared: String = (0..shape.layers.len()).map(|layer| format!("free g{layer}.{step}\n")).collect();
                let update =
                    format!("alloc u.{step} 1MiB @step@torch/optim/adam.py<train:14<main\nfree u.{step}\n{cleared}");
                (0..windows).map(window).collect::<String>() + &update + &ended
            })
        };
        (training(true), training(false))
    });
}

#[test]
fn several_losses_of_one_pass_are_no_windows() {
    for (seed, shape, mut random) in shapes() {
        let losses = 3 + random.below(4);
        let training = shape.training(|step| {
            let loss = |loss: u64| {
                let name = format!("{step}.l{loss}");
                format!(
                    "alloc one.{name} 4 @backward@v/torch/_tensor.py<train:13<main\nalloc h.{name} 1MiB\n\
                     free h.{name}\nfree one.{name}\nalloc n.{name} 4 @mul:16<train<main\nfree n.{name}\n"
                )
            };
            let text = shape.step(step, "", "");
            let at = text.find("alloc one.").expect("a backward pass");
            text[..at].to_owned() + &(0..losses).map(loss).collect::<String>() + &text[at..]
        });
        assert_eq!(finding_of(&training, FindingCode::StateChained), None, "seed {seed}, {shape:?}");
    }
}

#[test]
fn losses_that_are_added_up_wait_for_one_backward() {
    law((FindingCode::SeveralGraphsAtOnce, 11), |shape, random| {
        let windows = 3 + random.below(5);
        let training = |is_summed: bool| {
            shape.training(|step| {
                let gradients = format!("{step}");
                let begin = |name: &str| format!("alloc one.{name} 4 @backward@v/torch/_tensor.py<train:13<main\n");
                let backward = |window: u64| {
                    let name = format!("{step}.w{window}");
                    let own = format!("alloc h.{name} 1MiB\nfree h.{name}\n");
                    own + &shape.backward(&name, (window == 0).then_some(gradients.as_str()))
                };
                let window = |window: u64| {
                    let name = format!("{step}.w{window}");
                    let brought =
                        format!("alloc x.{name} 1MiB @at::_ops::to_dtype_layout::call()@a.cpp<train:10<main\n");
                    let loss = format!("free x.{name}\nalloc l.{name} 4 @at::_ops::add::call()@a.cpp<train:12<main\n");
                    let ended = || begin(&name) + &backward(window) + &format!("free one.{name}\n");
                    let ended = if is_summed { String::new() } else { ended() };
                    [brought, shape.call(&name, "train:11<main", true), loss, ended, format!("free l.{name}\n")]
                        .concat()
                };
                let all = || {
                    begin(&gradients) + &(0..windows).map(backward).collect::<String>() + &format!("free one.{step}\n")
                };
                let all = if is_summed { all() } else { String::new() };
                let cleared: String = (0..shape.layers.len()).map(|layer| format!("free g{layer}.{step}\n")).collect();
                let update =
                    format!("alloc u.{step} 1MiB @step@torch/optim/adam.py<train:14<main\nfree u.{step}\n{cleared}");
                (0..windows).map(window).collect::<String>() + &all + &update
            })
        };
        (training(true), training(false))
    });
}

#[test]
fn results_of_gradients_that_are_collected_keep_their_graphs() {
    law((FindingCode::EvaluationWithGraph, 30), |shape, random| {
        let (calls, at) = (4 + random.below(5), random.below(shape.steps - 1));
        let training = |is_detached: bool| {
            let name = |call: u64| format!("r{call}");
            let free = |call: u64| freed(shape, &name(call)) + &format!("free h.{0}\nfree n.{0}\n", name(call));
            let render = |call: u64| {
                let name = name(call);
                let brought =
                    format!("alloc n.{name} 64KiB @at::_ops::to_dtype_layout::call()@a.cpp<draw:29<main:20\n");
                let begin =
                    format!("alloc one.{name} 4 @_engine_run_backward@v/torch/autograd/graph.py<draw:31<main:20\n");
                let graph = format!("alloc h.{name} 1MiB\nfree one.{name}\nalloc o.{name} 4KiB @draw:32<main:20\n");
                let ended = if is_detached { free(call) } else { String::new() };
                [brought, shape.call(&name, "draw:30<main:20", true), begin, graph, ended].concat()
            };
            let ended = if is_detached { String::new() } else { (0..calls).map(free).collect() };
            let tiles: String = (0..calls).map(|call| format!("free o.{}\n", name(call))).collect();
            let joined = "alloc all 64KiB @at::_ops::cat::call()@a.cpp<draw:33<main:20\n".to_owned();
            let picture = (0..calls).map(render).collect::<String>() + &joined + &ended + &tiles + "free all\n";
            shape.training(|step| shape.step(step, "", "") + if step == at { &picture } else { "" })
        };
        (training(false), training(true))
    });
}

#[test]
fn batches_that_are_sorted_first_lie_on_the_gpu() {
    law((FindingCode::BatchesKept, 10), |shape, random| {
        let (epochs, length) = (2 + random.below(2), 8 + random.below(8));
        let mib = 2 + shape.layers.iter().map(|(mib, _)| mib + 1).sum::<u64>();
        let training = |is_sorted: bool| {
            let bring =
                |step: u64| format!("alloc x.{step} {mib}MiB @at::_ops::to_dtype_layout::call()@a.cpp<train:10<main\n");
            let is_of_input = |line: &str| line.starts_with("alloc x.") || line.starts_with("free x.");
            let step = |step: u64| {
                let (first, last) = (step / length * length, step % length == length - 1);
                let rest = lines_of(&shape.step(step, "", ""), |line| !is_of_input(line));
                let (brought, freed) = match (is_sorted, step == first, last) {
                    (false, ..) => (step..step + 1, step..step + 1),
                    (true, true, _) => (step..step + length, 0..0),
                    (true, _, true) => (0..0, first..first + length),
                    _ => (0..0, 0..0),
                };
                let free = |step: u64| format!("free x.{step}\n");
                brought.map(bring).collect::<String>() + &rest + &freed.map(free).collect::<String>()
            };
            Shape { layers: shape.layers.clone(), steps: epochs * length, ..*shape }.training(step)
        };
        (training(true), training(false))
    });
}

#[test]
fn a_list_of_beams_keeps_each_version_of_their_cache() {
    for (seed, shape, mut random) in shapes() {
        let tokens = 10 + random.below(20);
        let generation = |is_kept: bool| {
            let inside =
                format!("forward@m.py:28<{MODULE}<search:69<decorate_context@v/torch/utils/_contextlib.py<main");
            let layers = || 0..shape.layers.len();
            let free = |token: u64| layers().map(|layer| format!("free k{layer}.{token}\n")).collect::<String>();
            let step = |token: u64| {
                let join = |layer| {
                    let mib = shape.layers[0].0 * (token + 1);
                    format!("alloc k{layer}.{token} {mib}MiB @at::_ops::cat::call()@a.cpp<{inside}\n")
                };
                let picked = format!("alloc p.{token} 64KiB @search:77<main\nfree p.{token}\n");
                let old = token.checked_sub(1).filter(|_| !is_kept).map(free).unwrap_or_default();
                layers().map(join).collect::<String>() + &old + &picked
            };
            let last = if is_kept { (0..tokens).map(free).collect() } else { free(tokens - 1) };
            shape.weights("m") + &(0..tokens).map(step).collect::<String>() + &last
        };
        let told = |text: &str| findings_in(text).iter().any(|found| found.title.starts_with("Shorter versions"));
        assert!(told(&generation(true)) && !told(&generation(false)), "seed {seed}, {shape:?}");
    }
}

#[test]
fn passes_of_an_inner_loop_do_not_wait_for_one_backward() {
    for (seed, shape, mut random) in shapes() {
        let inner = 3 + random.below(4);
        let training = |has_gradients: bool| {
            shape.training(|step| {
                let name = |pass: u64| format!("{step}.i{pass}");
                let pass = |pass: u64| {
                    let name = name(pass);
                    let brought =
                        format!("alloc n.{name} 64KiB @at::_ops::to_dtype_layout::call()@a.cpp<adapt:33<main\n");
                    let begin =
                        format!("alloc one.{name} 4 @_engine_run_backward@v/torch/autograd/graph.py<adapt:35<main\n");
                    let gradient = format!("{begin}alloc h.{name} 1MiB\nfree one.{name}\n");
                    let taken = if has_gradients { gradient } else { String::new() };
                    brought + &shape.call(&name, "adapt:34<main", true) + &taken
                };
                let end = |pass: u64| {
                    let name = name(pass);
                    let gradient = if has_gradients { format!("free h.{name}\n") } else { String::new() };
                    freed(&shape, &name) + &gradient + &format!("free n.{name}\n")
                };
                let before: String = (0..inner).map(pass).collect();
                shape.step(step, &before, &(0..inner).rev().map(end).collect::<String>())
            })
        };
        let is_told = |text: &str| finding_of(text, FindingCode::SeveralGraphsAtOnce).is_some();
        assert!(!is_told(&training(true)) && is_told(&training(false)), "seed {seed}, {shape:?}");
    }
}

#[test]
fn what_a_function_keeps_is_used_by_backward() {
    for (seed, shape, _) in shapes() {
        let training = |is_of_function: bool| {
            let text = shape.training(|step| {
                let old = |layer: usize| format!("free a{layer}.{}\n", step.wrapping_sub(1));
                let freed: String = if step > 0 { (0..shape.layers.len()).map(old).collect() } else { String::new() };
                let text = shape.step(step, "", "");
                let at = text.find("alloc l.").expect("a loss");
                let kept = lines_of(&text[at..], |line| !line.starts_with("free a"));
                text[..at].to_owned() + &freed + &kept
            });
            let apply = "@m.py<apply@v/torch/autograd/function.py<";
            if is_of_function { text.replace("@m.py<", apply) } else { text }
        };
        let title = |text: &str| finding_of(text, FindingCode::GraphOutlivesStep).map(|found| found.title);
        let [function, step] = [true, false].map(|is| title(&training(is)).unwrap_or_default());
        assert!(function.starts_with("An autograd function keeps tensors"), "seed {seed}, {shape:?}: {function}");
        assert!(step.starts_with("A step's graph stays"), "seed {seed}, {shape:?}: {step}");
    }
}

#[test]
fn calls_whose_graphs_are_chained_and_never_used_are_graphs() {
    for (seed, shape, _) in shapes() {
        let training = |has_gradients: bool| {
            let act = |step: u64| shape.call(&format!("{step}.c"), "act:66<main", has_gradients);
            let acted = |step: u64| if shape.is_due(step) { act(step) } else { String::new() };
            shape.training(|step| shape.step(step, &acted(step), ""))
        };
        let found = codes_in(&training(true));
        assert_eq!(found[0].0, FindingCode::GraphsKept, "seed {seed}, {shape:?}: {found:?}");
        assert!(
            found.iter().any(|found| found.0 == FindingCode::EvaluationWithGraph),
            "seed {seed}, {shape:?}: {found:?}"
        );
        let kept = codes_in(&training(false));
        assert!(
            kept.iter().all(|found| found.0 != FindingCode::EvaluationWithGraph),
            "seed {seed}, {shape:?}: {kept:?}"
        );
    }
}
