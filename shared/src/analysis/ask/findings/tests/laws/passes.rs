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
