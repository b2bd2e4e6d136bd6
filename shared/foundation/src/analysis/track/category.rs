//! Categories of allocations, and their colors.

use crate::trace::{Frame, StackId, Trace};

/// Sizes of the workspaces that PyTorch allocates for cuBLAS at its first use and never frees.
///
/// They are 8 MiB + 128 KiB, or 32 MiB on Hopper and later, and 1 MiB for cuBLASLt.
pub const WORKSPACES_BYTES: [u64; 3] = [8_519_680, 33_554_432, 1_048_576];

/// Purpose of an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// A weight or buffer of the model.
    Parameter,
    /// The gradient of a parameter.
    Gradient,
    /// State that an optimizer keeps between steps.
    OptimizerState,
    /// A tensor that forward keeps for backward.
    Activation,
    /// A batch.
    Input,
    /// A tensor that lives for an operation or two.
    Temporary,
    /// A cuBLAS workspace, which is never freed.
    Workspace,
    /// A buffer of collectives.
    Collective,
    /// Any tensor of a forward pass without training.
    Evaluation,
    /// Neither stack nor lifetime shows the purpose.
    #[default]
    Unknown,
}

crate::names!(
    Category {
        Parameter => "parameter" as "parameters",
        Gradient => "gradient" as "gradients",
        OptimizerState => "optimizer-state" as "optimizer state",
        Activation => "activation" as "activations",
        Input => "input" as "inputs",
        Temporary => "temporary" as "temporaries",
        Workspace => "workspace" as "workspaces",
        Collective => "collective" as "communication buffers",
        Evaluation => "evaluation" as "evaluation",
        Unknown => "unknown" as "memory of unknown purpose",
    }
    /// Returns the plural for use in a sentence.
    fn plural
);

/// Property that the colours of a picture show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coloring<'a> {
    /// Stacks, see [`Timeline::color`](super::Timeline::color).
    #[default]
    Stack,
    /// Categories of all allocations, as `categories` of the floor above returns them.
    ///
    /// The number of a category is its position in [`Category::ALL`] plus one.
    Category(&'a [Category]),
}

/// One number per stack, hashed from its texts, so that it depends neither on the file nor on the order in it.
///
/// Of a path only the last component counts, so that a program has the same colours on every machine, and also in
/// shared copies, in which paths are shortened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackColors(Vec<u32>);

impl StackColors {
    /// Computes the numbers of all stacks of a trace.
    pub fn of(trace: &Trace) -> Self {
        let frames: Vec<u64> = trace.frames.iter().map(|frame| frame_hash(trace, frame)).collect();
        let stack_hash = |index| {
            let stack = trace.stacks.frames(StackId::from_index(index));
            fold(stack.iter().fold(SEED, |hash, frame| mix(hash, frames[frame.index()])))
        };
        Self((0..trace.stacks.len()).map(stack_hash).collect())
    }

    /// Returns the number of an allocation, never 0.
    ///
    /// Allocations without a stack, such as those of PyTorch's backward threads, get a number by their size.
    pub fn color(&self, stack: StackId, size_bytes: u64) -> u32 {
        match self.0.get(stack.index()) {
            Some(&color) if stack.has_frames() => color,
            _ => fold(mix(SEED, size_bytes)),
        }
    }
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

fn frame_hash(trace: &Trace, frame: &Frame) -> u64 {
    let hash = |text: &str| text.bytes().fold(SEED, |hash, byte| mix(hash, u64::from(byte)));
    let path = trace.strings.get(frame.filename);
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    mix(mix(hash(trace.strings.get(frame.name)), hash(file)), frame.line)
}

/// Mixes 64 bits into a hash: one step of FNV-1a on a whole word, followed by a rotation.
fn mix(hash: u64, value: u64) -> u64 {
    (hash ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

/// Folds a hash into 32 evenly distributed bits, never 0, by the finalizer of MurmurHash3.
fn fold(hash: u64) -> u32 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    ((hash ^ (hash >> 33)) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    fn colors(trace: &str) -> Vec<u32> {
        let trace = text::parse(trace).unwrap();
        let colors = StackColors::of(&trace);
        trace.devices[0].events.iter().map(|event| colors.color(event.stack, event.size_bytes)).collect()
    }

    #[test]
    fn one_stack_has_one_color_in_every_file() {
        let one = colors("alloc a 1 @f<main\nalloc b 2 @g<main\nalloc c 3 @f<main");
        let other = colors("alloc x 9 @h\nalloc y 8 @g<main\nalloc z 7 @f<main");
        assert_eq!([one[0], one[1], one[0]], [one[2], other[1], other[2]]);
        assert_ne!(one[0], one[1]);
        assert_ne!(other[0], other[1]);
    }

    #[test]
    fn a_program_has_its_colors_on_every_machine() {
        let color = |filename: &str| {
            let mut trace = text::parse("alloc a 1").unwrap();
            let (name, filename) = (trace.strings.intern("f"), trace.strings.intern(filename));
            let frame = trace.frames.intern(Frame { name, filename, line: 1, fx: None });
            let stack = trace.stacks.intern(&[frame]);
            StackColors::of(&trace).color(stack, 1)
        };
        assert_eq!(color("/home/ada/train.py"), color("train.py"));
        assert_eq!(color(r"C:\ada\train.py"), color("train.py"));
        assert_ne!(color("/home/ada/train.py"), color("/home/ada/test.py"));
    }

    #[test]
    fn without_a_stack_the_size_decides() {
        let colors = colors("alloc a 1\nalloc b 2\nalloc c 1");
        assert_eq!(colors[0], colors[2]);
        assert_ne!(colors[0], colors[1]);
    }
}
