//! Tests findings about growth, about rises that end, and about the line in the user's code.

use super::*;

#[test]
fn growth_that_ends_is_no_leak() {
    let filling = |step| {
        let cache = (step < 2).then(|| format!("alloc c.{step} 1MiB @cache<forward@phase"));
        [cache.into_iter().collect(), healthy(step)].concat()
    };
    check(&training(8, filling), &[]);
    assert_eq!(notes(&training(8, filling)), [FindingCode::Settled]);
}

#[test]
fn growth_that_is_no_leak_is_explained() {
    let with = |step: usize, is_there: bool, name: &str, mib: usize| {
        let more = is_there.then(|| format!("alloc {name}.{step} {mib}MiB @{name}<forward@phase"));
        [more.into_iter().collect(), healthy(step)].concat()
    };
    let settled = |text: &str| finding_of(text, FindingCode::Settled).expect("a note");
    let title = |text: &str| settled(text).title;
    let shows = |text: &str| settled(text).evidence.shows;
    let healthy = training(9, healthy);
    assert_eq!(notes(&healthy), [FindingCode::Settled]);
    let state = "Normal: 32.0 MiB of optimizer state is allocated in step 1 and stays";
    assert_eq!(title(&healthy), state);
    let once = training(9, |step| with(step, step == 5, "table", 8));
    assert_eq!(title(&once), state);
    assert!(shows(&once).contains("stays; 8.00 MiB is allocated once, in step 6."));
    let cache = training(9, |step| with(step, [0, 2, 4].contains(&step), "masks", 4));
    assert_eq!(title(&cache), state);
    assert!(shows(&cache).contains("; a cache of 12.0 MiB fills in steps 1 to 5, and then less"));
    let little = training(9, |step| with(step, step == 5, "table", 1));
    assert_eq!(title(&little), state, "next to nothing is not worth a word");
    for text in [healthy, once, cache] {
        check(&text, &[]);
    }
}

#[test]
fn the_line_of_the_users_own_code_is_named() {
    let in_python = |lines: Vec<String>| {
        let module = "_call_impl@v/site-packages/torch/nn/modules/module.py";
        let called = |line: String| match line.split_once("forward@phase") {
            Some((head, _)) => {
                format!("{head}forward@v/site-packages/torch/nn/modules/linear.py<{module}<train_step<main")
            }
            None => line,
        };
        lines.into_iter().map(called).collect::<Vec<_>>()
    };
    let graphs = training(5, |step| in_python([forward(step), backward(step, |_| true), update(step, false)].concat()));
    let found = found_with(&graphs, &FindingsConfig { capacity_bytes: Some(1 << 30), ..Default::default() });
    assert_eq!(found[0].code, FindingCode::GraphsKept, "{found:?}");
    assert!(found[0].title.ends_with("8.00 MiB per step, in train_step (main.py:1)"), "{}", found[0].title);
    let look = "The model is called from `train_step (main.py:1)`: check what the code keeps of the result.";
    assert!(found[0].advice.text().contains(look), "{}", found[0].advice.text());
    let full = "At this rate, all growth together fills the GPU's 1.00 GiB after at most 110 more steps";
    assert!(found[0].advice.text().contains(full), "{}", found[0].advice.text());
}

#[test]
fn growth_is_told_with_its_rhythm_and_how_to_find_its_holder() {
    let check = |keeps: fn(usize) -> bool, rhythm: &str| {
        let kept = |step| {
            let more = keeps(step).then(|| format!("alloc k.{step} 4MiB @keep:7<train<main"));
            [healthy(step), more.into_iter().collect()].concat()
        };
        let found = findings_in(&training(15, kept));
        assert!(found[0].evidence.shows.ends_with(&format!("; {rhythm} adds one.")), "{}", found[0].evidence.shows);
        let command = "snapscope record --holders --steps 1..8 -- python train.py";
        assert!(found[0].advice.steps.iter().any(|step| step.value == command), "{:?}", found[0].advice);
    };
    check(|_| true, "each step");
    check(|step| step % 2 == 1, "every second step");
    check(|step| step % 3 == 2, "every third step");
    check(|step| step % 4 == 3, "one step in 4");
    check(|step| step >= 3, "from step 4 on, each step");
}
