//! Makes the call stacks of the generated program: a few hundred call sites that share most of their frames.

use super::Random;

pub(super) const LAYERS: usize = 12;
pub(super) const LAYER_SITES: usize = 26;
/// Number of call sites in the code that builds the model.
pub(super) const INIT_SITES: usize = 48;
pub(super) const OPTIMIZER_SITES: usize = 16;

const LIBRARY: &str = "/opt/venv/lib/python3.12/site-packages";
const HELPERS: usize = 380;

/// Stack frame of the generated program.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) name: String,
    pub(super) filename: String,
    pub(super) line: u32,
}

/// Call site of the generated program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Site {
    /// Code in an autograd thread, which has no Python stack.
    Backward,
    /// Code that builds the model.
    Init(usize),
    /// Forward code of a layer: layer and call site.
    Forward(usize, usize),
    Optimizer(usize),
}

/// All frames, and for each call site its stack of 11 to 21 of them, innermost first.
#[derive(Debug)]
pub(super) struct Stacks {
    pub(super) frames: Vec<Frame>,
    stacks: Vec<Vec<u32>>,
}

impl Stacks {
    /// Creates the stacks for a seed, which decides their depths.
    pub(super) fn new(seed: u64) -> Self {
        Builder { random: Random::new(seed), stacks: Self { frames: Vec::new(), stacks: vec![Vec::new()] } }.build()
    }

    /// Returns the number of the call site's stack.
    pub(super) fn of(&self, site: Site) -> u32 {
        let index = match site {
            Site::Backward => 0,
            Site::Init(n) => 1 + n % INIT_SITES,
            Site::Optimizer(n) => 1 + INIT_SITES + n % OPTIMIZER_SITES,
            Site::Forward(layer, n) => 1 + INIT_SITES + OPTIMIZER_SITES + layer * LAYER_SITES + n % LAYER_SITES,
        };
        index as u32
    }

    /// Returns the frames of a stack, innermost first, as positions in [`frames`](Self::frames).
    pub(super) fn frames_of(&self, stack: u32) -> &[u32] {
        &self.stacks[stack as usize]
    }
}

struct Builder {
    random: Random,
    stacks: Stacks,
}

impl Builder {
    fn build(mut self) -> Stacks {
        let main = ["train", "main", "<module>"].map(|name| self.frame(name, "/srv/demo/train.py", 40));
        let call = [1775, 1786].map(|line| self.library("_call_impl", "torch/nn/modules/module.py", line));
        let helpers: Vec<u32> = (0..HELPERS).map(|n| self.helper(n)).collect();
        for n in 0..INIT_SITES {
            let inner =
                self.library("__init__", ["torch/nn/modules/linear.py", "torch/nn/modules/sparse.py"][n % 2], 109);
            let outer = self.frame("__init__", "/srv/demo/model.py", 10 + n as u32);
            self.site(&[inner, outer], &helpers, &main);
        }
        for n in 0..OPTIMIZER_SITES {
            let inner = self.library("_multi_tensor_adamw", "torch/optim/adam.py", 540 + 9 * n as u32);
            let outer = self.library("step", "torch/optim/adam.py", 246);
            self.site(&[inner, outer], &helpers, &main);
        }
        for layer in 0..LAYERS {
            let model = self.frame("forward", "/srv/demo/model.py", 200 + layer as u32);
            for n in 0..LAYER_SITES {
                let inner = self.library("forward", "torch/nn/modules/linear.py", 125 + (n % 9) as u32);
                let block = self.frame("forward", &format!("/srv/demo/blocks/block{layer}.py"), 20 + n as u32);
                self.site(&[inner, call[0], call[1], block, call[0], call[1], model], &helpers, &main);
            }
        }
        self.stacks
    }

    /// Adds a stack: `inner`, helpers up to a depth of 11 to 21, `outer`.
    fn site(&mut self, inner: &[u32], helpers: &[u32], outer: &[u32]) {
        let depth = 11 + self.random.below(11);
        let mut stack = inner.to_vec();
        // Helpers call one another in a row, as the frames of decorators and hooks do.
        let first = self.random.below(helpers.len());
        let missing = depth.saturating_sub(inner.len() + outer.len());
        stack.extend((0..missing).map(|n| helpers[(first + n) % helpers.len()]));
        stack.extend_from_slice(outer);
        self.stacks.stacks.push(stack);
    }

    fn helper(&mut self, n: usize) -> u32 {
        let names = ["wrapper", "decorate_context", "_fn", "inner", "__call__", "_wrapped", "apply", "run"];
        let files = ["torch/utils/_contextlib.py", "torch/_dynamo/eval_frame.py", "accelerate/utils/operations.py"];
        self.library(names[n % names.len()], files[n % files.len()], 30 + 7 * n as u32)
    }

    fn library(&mut self, name: &str, file: &str, line: u32) -> u32 {
        self.frame(name, &format!("{LIBRARY}/{file}"), line)
    }

    /// Returns the position of a frame, which is added if it is new.
    fn frame(&mut self, name: &str, filename: &str, line: u32) -> u32 {
        let frames = &mut self.stacks.frames;
        let same = |frame: &Frame| frame.line == line && frame.name == name && frame.filename == filename;
        let index = frames.iter().position(same).unwrap_or_else(|| {
            frames.push(Frame { name: name.to_owned(), filename: filename.to_owned(), line });
            frames.len() - 1
        });
        index as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_deep_and_share_their_frames() {
        let stacks = Stacks::new(1);
        assert_eq!(stacks.stacks.len(), 1 + INIT_SITES + OPTIMIZER_SITES + LAYERS * LAYER_SITES);
        assert!(stacks.stacks[1..].iter().all(|stack| (11..=21).contains(&stack.len())));
        assert!((700..900).contains(&stacks.frames.len()), "{} frames", stacks.frames.len());
        assert!(stacks.frames_of(stacks.of(Site::Backward)).is_empty());
    }
}
