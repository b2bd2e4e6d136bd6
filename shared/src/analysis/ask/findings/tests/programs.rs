//! Tests findings on small Python programs: model calls, lines of their own code, and the tensors that they keep.

use super::*;

pub(super) const MODULE: &str = "_call_impl@v/site-packages/torch/nn/modules/module.py";

/// Writes a training step in Python: a batch, layers, a loss, backward and an update; `kept` names tensors that stay.
fn step(step: usize, extra: &[String], kept: &[&str]) -> String {
    let mut lines = vec![format!("alloc x.{step} 1MiB @at::_ops::to_dtype_layout::call()@a.cpp<train:10<main")];
    for layer in 0..6 {
        lines.push(format!("alloc a{layer}.{step} 4MiB @f{layer}@m.py<{MODULE}<train:11<main"));
    }
    lines.push(format!("alloc l.{step} 4 @nll@m.py<{MODULE}<train:11<main"));
    lines.push(format!("alloc one.{step} 4 @backward@torch/_tensor.py<train:12<main"));
    for layer in (0..6).rev() {
        lines.push(format!("alloc g{layer}.{step} 2MiB"));
        lines.push(format!("free a{layer}.{step}"));
    }
    lines.push(format!("alloc t.{step} 2MiB @step@torch/optim/adam.py<train:13<main"));
    lines.push(format!("free t.{step}"));
    lines.extend((0..6).map(|layer| format!("free g{layer}.{step}")));
    lines.extend(extra.iter().cloned());
    lines.extend(["one", "l", "x"].map(|name| format!("free {name}.{step}")));
    let is_kept = |line: &String| kept.iter().any(|name| line.starts_with(&format!("free {name}.")));
    lines.retain(|line| !is_kept(line));
    lines.join("\n") + "\n"
}

fn program(steps: usize, of: impl Fn(usize) -> String) -> String {
    let weights: String = (0..6)
        .map(|layer| format!("alloc w{layer} 2MiB @_apply@v/site-packages/torch/nn/modules/module.py<main\n"))
        .collect();
    weights + &(0..steps).map(of).collect::<String>()
}

/// Checks the code and line of the first finding.
#[track_caller]
fn check_line(text: &str, code: FindingCode, line: u64) {
    let found = findings_in(text);
    let first = found.first().unwrap_or_else(|| panic!("nothing is found"));
    let found_line = first.line.as_ref().map(|line| line.line);
    assert_eq!((first.code, found_line), (code, Some(line)), "{}", first.title);
}

#[test]
fn what_the_program_keeps_is_told_by_its_line() {
    check(&program(6, |index| step(index, &[], &[])), &[]);
    check_line(&program(6, |index| step(index, &[], &["x"])), FindingCode::BatchesKept, 10);
    let result = |index: usize, operation: &str| {
        format!("alloc {operation}.{index} 1MiB @at::_ops::{operation}::call()@a.cpp<metric:30<train:14<main")
    };
    // Several results of one line are a graph, and one is a tensor.
    let several = |index| step(index, &["_softmax", "add", "log"].map(|operation| result(index, operation)), &[]);
    check_line(&program(6, several), FindingCode::GraphsKept, 30);
    check_line(&program(6, |index| step(index, &[result(index, "mul")], &[])), FindingCode::TensorsKept, 30);
}

#[test]
fn a_call_with_hooks_tells_a_hook() {
    let hooked = |text: String| {
        let inner = "inner@v/site-packages/torch/nn/modules/module.py";
        text.replace("@f3@m.py<", &format!("@f3@m.py<{inner}<"))
    };
    let text = program(6, |index| step(index, &[], &["a3"]));
    for (text, is_hook) in [(hooked(text.clone()), true), (text, false)] {
        let found = findings_in(&text);
        assert_eq!(found[0].code, FindingCode::ActivationsKept);
        assert_eq!(found[0].title.starts_with("A forward hook keeps"), is_hook, "{}", found[0].title);
        assert_eq!(found[0].title.contains("hook"), is_hook, "{}", found[0].title);
    }
}

#[test]
fn gradients_that_a_hook_keeps_are_told_in_a_program_of_functions() {
    let step = |step: usize| {
        let layer = |layer: usize| {
            let own = |index: usize| format!("alloc y{index}.{layer}.{step} 4MiB @train:12<main\n");
            let module = format!("alloc a{layer}.{step} 4MiB @linear@m.py<{MODULE}<train:11<main\n");
            module + &(0..6).map(own).collect::<String>()
        };
        let backward = |layer: usize| {
            let freed = (0..6).map(|index| format!("free y{index}.{layer}.{step}\n")).collect::<String>();
            format!("alloc k{layer}.{step} 3MiB\nalloc g{layer}.{step} 2MiB\nfree a{layer}.{step}\n{freed}")
        };
        let cleared = (0..4).map(|layer| format!("free g{layer}.{step}\n"));
        (0..4)
            .map(layer)
            .chain([format!("alloc one.{step} 4 @backward@torch/_tensor.py<train:13<main\n")])
            .chain((0..4).rev().map(backward))
            .chain(cleared)
            .chain([format!("free one.{step}\n")])
            .collect::<String>()
    };
    let found = findings_in(&program(8, step));
    assert_eq!(found.first().map(|found| found.code), Some(FindingCode::GradientsKept), "{found:?}");
    assert!(found[0].advice.text().contains("register_hook"), "{:?}", found[0]);
}

#[test]
fn deep_copies_are_told_by_their_function() {
    let copied = |index: usize| {
        let copies = (0..6).map(|layer| {
            let clone = "at::_ops::clone::call()@a.cpp<deepcopy@v/lib/python3.12/copy.py";
            format!("alloc c{layer}.{index} 2MiB @{clone}<train:20<main")
        });
        step(index, &copies.collect::<Vec<_>>(), &[])
    };
    check_line(&program(6, copied), FindingCode::CopiesKept, 20);
}

#[test]
fn a_larger_batch_in_each_step_is_no_leak() {
    let larger = |index: usize| step(index, &[], &[]).replace(" 1MiB", &format!(" {}MiB", index + 1));
    check(&program(6, larger), &[]);
}

#[test]
fn a_joined_tensor_that_grows_is_one() {
    let joined = |index: usize| {
        let cat = format!("alloc all.{index} {}MiB @at::_ops::cat::call()@a.cpp<train:20<main", index + 1);
        let free = index.checked_sub(1).map(|last| format!("free all.{last}"));
        step(index, &[cat].into_iter().chain(free).collect::<Vec<_>>(), &[])
    };
    check_line(&program(6, joined), FindingCode::TensorGrows, 20);
}

#[test]
fn more_weights_need_more_state() {
    let unfrozen = |index: usize| {
        let state = format!("alloc m.{index} 2MiB @step@torch/optim/adam.py<train:13<main");
        step(index, &[state], &[])
    };
    check(&program(6, unfrozen), &[]);
    check(&program(12, unfrozen), &[FindingCode::OptimizerStateGrows]);
}

#[test]
fn what_is_collected_in_an_epoch_is_told() {
    let hooked = format!("f@m.py<inner@v/site-packages/torch/nn/modules/module.py<{MODULE}<train:11<main");
    for (stack, is_hook) in [("at::_ops::mul::call()@a.cpp<train:15<main", false), (hooked.as_str(), true)] {
        let collected = |index: usize| {
            let last = index % 6 == 5;
            let freed = (index - index % 6..=index).filter(|_| last).map(|older| format!("free o.{older}"));
            let kept = format!("alloc o.{index} 4MiB @{stack}");
            step(index, &[kept].into_iter().chain(freed).collect::<Vec<_>>(), &[])
        };
        let found = findings_in(&program(12, collected));
        assert_eq!(found[0].code, FindingCode::CollectedInEpoch, "{found:?}");
        assert_eq!(found[0].advice.text().contains("handle.remove"), is_hook, "{found:?}");
    }
}

#[test]
fn batches_of_the_first_epoch_that_stay_are_noted() {
    let training = |kept: usize| {
        let of = |index: usize| {
            let larger = step(index, &[], if index < kept { &["x"] } else { &[] });
            larger.replace(&format!("x.{index} 1MiB"), &format!("x.{index} 20MiB"))
        };
        finding_of(&program(36, of), FindingCode::BatchesKept).map(|finding| (finding.severity, finding.title))
    };
    let (severity, title) = training(24).expect("a note");
    assert!(severity == Severity::Info && title.starts_with("The batches of the first 24 steps"), "{title}");
    assert_eq!(training(0), None);
}

#[test]
fn batches_that_are_brought_faster_than_they_are_used_are_told() {
    let training = |ahead: usize| {
        let of = |index: usize| {
            let (epoch, at) = (index - index % 12, index % 12);
            let brought = (at * ahead..(at + 1) * ahead).filter(|batch| *batch < 12);
            let upload = |batch: usize| format!("alloc q.{} 9MiB @_upload:34<__next__:44<main", epoch + batch);
            let lines: Vec<String> = brought.map(upload).chain([format!("free q.{index}")]).collect();
            step(index, &lines, &[])
        };
        finding_of(&program(36, of), FindingCode::BatchesKept).map(|finding| finding.title)
    };
    assert_eq!(training(3).as_deref(), Some("Batches wait on the GPU: up to 63.0 MiB, in _upload (main.py:34)"));
    assert_eq!(training(1), None);
}

#[test]
fn gradients_of_inputs_that_stay_are_told() {
    let training = |kept: usize| {
        let of = |index: usize| {
            let own = if index < kept { format!("alloc i.{index} 3MiB\n") } else { String::new() };
            step(index, &[], &[]).replace(&format!("free a5.{index}\n"), &format!("free a5.{index}\n{own}"))
        };
        finding_of(&program(36, of), FindingCode::GradientsStay).map(|finding| finding.title)
    };
    assert_eq!(training(24).as_deref(), Some("Gradients of 24 inputs stay: 72.0 MiB"));
    assert_eq!(training(0), None);
}

#[test]
fn calls_with_gradients_that_nobody_uses_are_told() {
    let call = |index: usize| {
        let layers = (0..6).map(|layer| format!("alloc a{layer}.{index} 4MiB @f{layer}@m.py<{MODULE}<score:30<main\n"));
        format!("alloc x.{index} 1MiB @at::_ops::to_dtype_layout::call()@a.cpp<main:9\n") + &layers.collect::<String>()
    };
    let found = findings_in(&program(6, call));
    assert_eq!(found[0].code, FindingCode::GraphsKept);
    assert!(found[0].advice.text().contains("no_grad") && found[0].title.contains("per call"), "{:?}", found[0]);
    // Layers of one pass do not have an input each.
    let layer = |index: usize| {
        format!(
            "alloc a.{index} 4MiB @f@m.py<{MODULE}<main:30\nalloc r.{index} 1MiB @at::_ops::add::call()@a.cpp<main:31\n"
        )
    };
    check(&program(8, layer), &[]);
}

#[test]
fn a_failed_try_that_stays_is_told() {
    let tried = |name: &str| -> String {
        (0..3).map(|layer| format!("alloc a{layer}.{name} 40MiB @f{layer}@m.py<{MODULE}<attempt:20<main\n")).collect()
    };
    let failure = "oom 80MiB free=1MiB @f3@m.py<main\n";
    let freed: String = (0..3).map(|layer| format!("free a{layer}.one\n")).collect();
    let attempts =
        |between: &str| program(0, |_| String::new()) + &tried("one") + failure + between + &tried("two") + failure;
    assert_eq!(findings_in(&attempts(""))[0].code, FindingCode::FailedTryKept);
    assert_eq!(finding_of(&attempts(&freed), FindingCode::FailedTryKept), None);
}

#[test]
fn losses_that_are_added_up_before_backward_are_counted() {
    let pass = |name: &str| {
        let layers = (0..6).map(|layer| format!("alloc a{layer}.{name} 4MiB @f{layer}@m.py<{MODULE}<train:11<main\n"));
        format!("alloc x.{name} 1MiB @at::_ops::to_dtype_layout::call()@a.cpp<train:10<main\n")
            + &layers.collect::<String>()
            + &format!("alloc l.{name} 4 @nll@m.py<train:12<main\n")
    };
    let step = |step: usize| {
        let names: Vec<String> = (0..4).map(|pass| format!("{step}.{pass}")).collect();
        let passes: String = names.iter().map(|name| pass(name)).collect();
        let mut lines = passes + &format!("alloc one.{step} 4 @backward@torch/_tensor.py<train:14<main\n");
        for name in &names {
            lines += &format!("alloc g.{name} 2MiB\n");
            lines += &(0..6).map(|layer| format!("free a{layer}.{name}\n")).collect::<String>();
        }
        lines +=
            &format!("alloc t.{step} 2MiB @step@torch/optim/adam.py<train:15<main\nfree t.{step}\nfree one.{step}\n");
        lines + &names.iter().map(|name| format!("free g.{name}\nfree x.{name}\nfree l.{name}\n")).collect::<String>()
    };
    let found = findings_in(&program(5, step));
    assert_eq!(found.first().map(|finding| finding.code), Some(FindingCode::SeveralGraphsAtOnce), "{found:?}");
    assert!(found[0].title.starts_with("4 forward passes"), "{}", found[0].title);
}

#[test]
fn too_little_is_said_with_what_to_record() {
    let notes = |text: &str| finding_of(text, FindingCode::TooLittleRecorded).map(|finding| finding.advice);
    for text in ["", "segment S 2MiB\nblock b 1MiB", &program(1, |index| step(index, &[], &[])), "alloc a 1MiB"] {
        let advice = notes(text).unwrap_or_else(|| panic!("nothing is said of {text:?}"));
        assert!(advice.text().contains("_record_memory_history"), "{advice:?}");
    }
    assert_eq!(notes(&program(6, |index| step(index, &[], &[]))), None);
}
