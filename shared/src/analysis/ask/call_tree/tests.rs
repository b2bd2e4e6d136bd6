//! Checks trees by worked examples, and against a naive implementation on random stacks.

use super::*;
use crate::analysis::naive::Random;
use crate::trace::{StackId, Trace, text};
use std::collections::BTreeMap;
use std::fmt::Write;

const LINES: PathConfig = PathConfig { merge: MergeBy::Line, folds_runtime: false };
const FOLDED: PathConfig = PathConfig { merge: MergeBy::Function, folds_runtime: true };

/// Builds the calls of a trace's events, weighted by their sizes.
fn calls(trace: &Trace, config: PathConfig) -> Calls {
    let events = trace.devices[0].events.iter();
    Calls::new(trace, config, events.map(|event| (event.stack, event.size_bytes)))
}

fn name(trace: &Trace, site: Site) -> String {
    match site {
        Site::All => "all".to_owned(),
        Site::NoStack => "-".to_owned(),
        Site::Frame(frame) => trace.strings.get(trace.frames.get(frame).name).to_owned(),
    }
}

/// Draws a tree as text: each node's name, total and own weight, indented by depth.
fn drawn(trace: &Trace, tree: &CallTree) -> String {
    let line = |node: &CallNode| {
        let indent = "  ".repeat(node.depth as usize);
        format!("{indent}{} {} {}\n", name(trace, node.site), node.total.weight, node.own.weight)
    };
    tree.nodes().iter().map(line).collect()
}

#[track_caller]
fn check(source: &str, config: PathConfig, tree: TreeConfig, expected: &str) {
    let trace = text::parse(source).unwrap();
    let expected: Vec<&str> = expected.lines().map(|line| line.strip_prefix("        ").unwrap_or(line)).collect();
    let found = drawn(&trace, &CallTree::new(&calls(&trace, config), tree));
    assert_eq!(found.trim(), expected.join("\n").trim());
}

const EXAMPLE: &str = "
    alloc a 30 @relu<step<main
    alloc b 20 @load<main
    alloc c 50 @mm<step<main
";

#[test]
fn the_worked_example() {
    let whole = "
        all 100 0
          main 100 0
            step 80 0
              mm 50 50
              relu 30 30
            load 20 20";
    check(EXAMPLE, LINES, TreeConfig::default(), whole);
    let inverted = "
        all 100 0
          mm 50 0
            step 50 0
              main 50 50
          relu 30 0
            step 30 0
              main 30 30
          load 20 0
            main 20 20";
    check(EXAMPLE, LINES, TreeConfig { is_inverted: true, ..TreeConfig::default() }, inverted);
    let in_order_of_appearance = "
        all 100 0
          main 100 0
            step 80 0
              relu 30 30
              mm 50 50
            load 20 20";
    check(EXAMPLE, LINES, TreeConfig { order: NodeOrder::FirstSeen, ..TreeConfig::default() }, in_order_of_appearance);
}

#[test]
fn what_has_no_stack_is_one_node() {
    check(
        "alloc a 1\nalloc b 2\nalloc c 4 @f",
        LINES,
        TreeConfig::default(),
        "
        all 7 0
          f 4 4
          - 3 3",
    );
}

#[test]
fn machinery_folds_down_to_what_the_program_called() {
    let source = "
        alloc a 8 @malloc@Allocator.cpp<mm@torch.so<linear@lib/python3.12/site-packages/torch/nn/functional.py<_call_impl@lib/python3.12/site-packages/torch/nn/modules/module.py<forward@model.py<_call_impl@lib/python3.12/site-packages/torch/nn/modules/module.py<main@train.py<run@runpy.py
        alloc b 4 @malloc@Allocator.cpp<step@lib/python3.12/site-packages/torch/optim/adam.py<start@threading.cpp
    ";
    check(
        source,
        FOLDED,
        TreeConfig::default(),
        "
        all 12 0
          main 8 0
            forward 8 0
              linear 8 8
          step 4 4",
    );
}

#[test]
fn lines_of_a_function_are_one_site_or_several() {
    let mut trace = text::parse("alloc a 1\nalloc b 1").unwrap();
    let (name, filename) = (trace.strings.intern("f"), trace.strings.intern("train.py"));
    let stack = |trace: &mut Trace, line| {
        let frame = trace.frames.intern(crate::trace::Frame { name, filename, line, fx: None });
        trace.stacks.intern(&[frame])
    };
    let stacks = [stack(&mut trace, 3), stack(&mut trace, 9)];
    let count = |merge| {
        let config = PathConfig { merge, folds_runtime: false };
        Calls::new(&trace, config, stacks.map(|stack| (stack, 1)).into_iter()).by_site().len()
    };
    assert_eq!((count(MergeBy::Function), count(MergeBy::Line)), (1, 2));
}

#[test]
fn a_stack_counts_once_for_a_site_that_calls_itself() {
    let trace = text::parse("alloc a 5 @f<g<f<main\nalloc b 2 @g<main\nfree_requested x 1").unwrap();
    let calls = calls(&trace, LINES);
    let row = |row: &SiteTotal| format!("{} {} {}", name(&trace, row.site), row.total.weight, row.own.weight);
    assert_eq!(calls.by_site().iter().map(row).collect::<Vec<_>>(), ["g 7 2", "main 7 0", "f 5 5", "- 1 1"]);

    let f = calls.by_site()[2].site;
    let Sandwich { callers, callees } = Sandwich::new(&calls, f, NodeOrder::LargestFirst);
    assert_eq!(drawn(&trace, &callers), "f 5 0\n  main 5 5\n");
    assert_eq!(drawn(&trace, &callees), "f 5 0\n  g 5 0\n    f 5 5\n");
}

#[test]
fn a_search_counts_each_stack_once() {
    let trace = text::parse(EXAMPLE).unwrap();
    let calls = calls(&trace, LINES);
    let weight = |names: &[&str]| calls.matching(|site| names.contains(&name(&trace, site).as_str())).weight;
    assert_eq!((weight(&["step", "mm"]), weight(&["load"]), weight(&["main"]), weight(&[])), (80, 20, 100, 0));
}

#[test]
fn nothing_is_a_root_alone() {
    let trace = Trace::default();
    let calls = Calls::new(&trace, FOLDED, std::iter::empty());
    let tree = CallTree::new(&calls, TreeConfig::default());
    assert_eq!((tree.nodes().len(), tree.nodes()[0].end, calls.total()), (1, 1, Tally::default()));
}

/// Builds random stacks of few functions, so that they call themselves and each other.
fn random_calls(seed: u64) -> Trace {
    let mut random = Random::new(seed);
    let (functions, deepest) = (1 + random.below(6), 1 + random.below(9));
    let mut source = String::new();
    for line in 0..60 {
        let frames: Vec<_> = (0..random.below(deepest)).map(|_| format!("f{}", random.below(functions))).collect();
        let at = if frames.is_empty() { "" } else { "@" };
        writeln!(source, "alloc a{line} {} {at}{}", 1 + random.below(99), frames.join("<")).unwrap();
    }
    text::parse(&source).unwrap()
}

/// Returns all allocations as paths, outermost site first, with their sizes.
fn naive_paths(trace: &Trace) -> Vec<(StackId, Vec<Site>, u64)> {
    let events = trace.devices[0].events.iter();
    let path = |stack: StackId| match trace.stacks.frames(stack) {
        [] => vec![Site::NoStack],
        frames => frames.iter().rev().map(|&frame| Site::Frame(frame)).collect(),
    };
    events.map(|event| (event.stack, path(event.stack), event.size_bytes)).collect()
}

fn naive_tally<'a>(paths: impl Iterator<Item = &'a (StackId, Vec<Site>, u64)>) -> Tally {
    paths.fold(Tally::default(), |sum, (_, _, weight)| Tally { weight: sum.weight + weight, count: sum.count + 1 })
}

/// Checks a tree against paths that begin below its root.
#[track_caller]
fn check_tree(tree: &CallTree, root: Site, paths: &[(StackId, Vec<Site>, u64)], order: NodeOrder) {
    let nodes = tree.nodes();
    assert_eq!((nodes[0].site, nodes[0].parent, nodes[0].end as usize), (root, 0, nodes.len()));
    let mut prefixes: BTreeMap<&[Site], usize> = BTreeMap::new();
    for (row, (_, path, _)) in paths.iter().enumerate() {
        for len in 0..=path.len() {
            prefixes.entry(&path[..len]).or_insert(row);
        }
    }
    assert_eq!(nodes.len(), prefixes.len().max(1), "one node a prefix");
    for number in 0..nodes.len() as u32 {
        let node = nodes[number as usize];
        let prefix = prefix_of(tree, number);
        assert_eq!(node.depth as usize, prefix.len());
        assert_eq!(node.total, naive_tally(paths.iter().filter(|(_, path, _)| path.starts_with(&prefix))));
        assert_eq!(node.own, naive_tally(paths.iter().filter(|(_, path, _)| *path == prefix)));
        let children: Vec<_> = tree.children(number).collect();
        assert!(children.iter().all(|&child| nodes[child as usize].parent == number));
        let sizes = children.iter().map(|&child| std::cmp::Reverse(nodes[child as usize].total.weight));
        let firsts = children.iter().map(|&child| prefixes[prefix_of(tree, child).as_slice()]);
        match order {
            NodeOrder::LargestFirst => assert!(sizes.is_sorted()),
            NodeOrder::FirstSeen => assert!(firsts.is_sorted()),
        }
        let mut stacks: Vec<_> = tree.stacks_of(number).collect();
        let below = paths.iter().filter(|(_, path, _)| path.starts_with(&prefix)).map(|(stack, _, _)| *stack);
        let mut expected: Vec<_> = below.collect();
        [&mut stacks, &mut expected].into_iter().for_each(|list| list.sort());
        expected.dedup();
        assert_eq!(stacks, expected);
    }
}

fn prefix_of(tree: &CallTree, number: u32) -> Vec<Site> {
    let up = std::iter::successors(Some(number), |&number| Some(tree.nodes()[number as usize].parent));
    let mut prefix: Vec<_> = up.take_while(|&number| number > 0).map(|at| tree.nodes()[at as usize].site).collect();
    prefix.reverse();
    prefix
}

#[test]
fn trees_agree_with_the_obvious_way() {
    for seed in 0..60 {
        let trace = random_calls(seed);
        let (calls, paths) = (calls(&trace, LINES), naive_paths(&trace));
        let mut inverted = paths.clone();
        inverted.iter_mut().for_each(|(_, path, _)| path.reverse());
        for order in [NodeOrder::LargestFirst, NodeOrder::FirstSeen] {
            let tree = |is_inverted| CallTree::new(&calls, TreeConfig { order, is_inverted });
            check_tree(&tree(false), Site::All, &paths, order);
            check_tree(&tree(true), Site::All, &inverted, order);
        }
    }
}

#[test]
fn sandwiches_agree_with_the_obvious_way() {
    for seed in 100..130 {
        let trace = random_calls(seed);
        let (calls, paths) = (calls(&trace, LINES), naive_paths(&trace));
        for row in calls.by_site() {
            let on: Vec<_> = paths.iter().filter(|(_, path, _)| path.contains(&row.site)).collect();
            assert_eq!(row.total, naive_tally(on.iter().copied()));
            assert_eq!(row.own, naive_tally(on.iter().copied().filter(|(_, path, _)| path.last() == Some(&row.site))));
            let split = |is_caller: bool| -> Vec<_> {
                on.iter()
                    .map(|(stack, path, weight)| {
                        let mut halves = path.splitn(2, |&site| site == row.site);
                        let (outside, inside) = (halves.next().unwrap(), halves.next().unwrap());
                        let half = if is_caller { outside.iter().rev().copied().collect() } else { inside.to_vec() };
                        (*stack, half, *weight)
                    })
                    .collect()
            };
            let Sandwich { callers, callees } = Sandwich::new(&calls, row.site, NodeOrder::FirstSeen);
            check_tree(&callers, row.site, &split(true), NodeOrder::FirstSeen);
            check_tree(&callees, row.site, &split(false), NodeOrder::FirstSeen);
        }
    }
}
