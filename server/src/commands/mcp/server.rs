//! The tools by their names, and what an agent is told about them.

use std::sync::Arc;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::CallToolResult;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};

use super::answer::{Answer, refusal};
use super::maker::Maker;
use super::options::{
    AllocationsOptions, DiffOptions, FindingsOptions, FitOptions, FixOptions, OpenOptions, PeakOptions, ReplayOptions,
    RunOptions, SummaryOptions,
};
use super::shelf::Shelf;
use super::tools;
use crate::Failure;

/// The server of one conversation.
#[derive(Clone)]
pub(super) struct Server {
    shelf: Arc<Shelf>,
    maker: Arc<Maker>,
}

impl Server {
    pub(super) fn new(shelf: Shelf, maker: Arc<Maker>) -> Self {
        Self { shelf: Arc::new(shelf), maker }
    }

    /// Finds an answer on a thread of its own, because reading a snapshot takes seconds.
    async fn answer<F>(&self, find: F) -> CallToolResult
    where
        F: FnOnce(&Shelf, &Maker) -> Result<Answer, Failure> + Send + 'static,
    {
        let (shelf, maker) = (Arc::clone(&self.shelf), Arc::clone(&self.maker));
        match tokio::task::spawn_blocking(move || find(&shelf, &maker)).await {
            Ok(Ok(answer)) => answer.result(),
            Ok(Err(failure)) => refusal(&failure),
            Err(_) => refusal(&Failure::new("this question ended in an error of Snapscope", "report it as a bug")),
        }
    }
}

#[tool_router]
impl Server {
    #[tool(
        description = "Open a CUDA memory snapshot of PyTorch, a log with an out-of-memory error, a folder of such \
                       files, or a shared link, and say what it is. Start here.",
        annotations(read_only_hint = true, open_world_hint = true)
    )]
    async fn open(&self, Parameters(options): Parameters<OpenOptions>) -> CallToolResult {
        self.answer(move |shelf, _| tools::open(shelf, &options)).await
    }

    #[tool(
        description = "Sum a snapshot up: devices, events, peaks of live and reserved memory, what was alive at the peak.",
        annotations(read_only_hint = true, open_world_hint = true)
    )]
    async fn summary(&self, Parameters(options): Parameters<SummaryOptions>) -> CallToolResult {
        self.answer(move |shelf, _| tools::summary(shelf, &options)).await
    }

    #[tool(
        description = "Explain in words what fills the memory, what leaks and why, what is fragmented and why memory \
                       ran out, with evidence and what to change, the most important first.",
        annotations(read_only_hint = true, open_world_hint = true)
    )]
    async fn findings(&self, Parameters(options): Parameters<FindingsOptions>) -> CallToolResult {
        self.answer(move |shelf, _| tools::findings(shelf, &options)).await
    }

    #[tool(
        description = "Group what is alive at the peak, or after an event, by stack, module, category and others.",
        annotations(read_only_hint = true, open_world_hint = true)
    )]
    async fn peak(&self, Parameters(options): Parameters<PeakOptions>) -> CallToolResult {
        self.answer(move |shelf, _| tools::peak(shelf, &options)).await
    }

    #[tool(
        description = "Find allocations by a text, and by when they were made and freed; with part born-and-kept in a \
                       range of events, those that leak.",
        annotations(read_only_hint = true, open_world_hint = true)
    )]
    async fn allocations(&self, Parameters(options): Parameters<AllocationsOptions>) -> CallToolResult {
        self.answer(move |shelf, _| tools::allocations(shelf, &options)).await
    }

    #[tool(
        description = "Compare the live memory of two snapshots, or of two events or steps of one, by stack, category or \
                       module.",
        annotations(read_only_hint = true, open_world_hint = true)
    )]
    async fn diff(&self, Parameters(options): Parameters<DiffOptions>) -> CallToolResult {
        self.answer(move |shelf, _| tools::diff(shelf, &options)).await
    }

    #[tool(
        description = "Replay a snapshot's requests by PyTorch's allocator with other settings or on another GPU: would \
                       it have fitted? With sweep, which settings and which GPU are best.",
        annotations(read_only_hint = true, open_world_hint = true)
    )]
    async fn replay(&self, Parameters(options): Parameters<ReplayOptions>) -> CallToolResult {
        self.answer(move |shelf, _| tools::replay(shelf, &options)).await
    }

    #[tool(
        description = "Find the largest batch of a training config that fits a GPU, or the smallest GPU that holds a \
                       command, by runs on virtual GPUs; takes minutes. Executes the command.",
        annotations(read_only_hint = false)
    )]
    async fn fit(&self, Parameters(options): Parameters<FitOptions>) -> CallToolResult {
        self.answer(move |_, maker| tools::fit(maker, &options)).await
    }

    #[tool(
        description = "Try remedies on a training, such as checkpointing or smaller micro batches, by runs on virtual \
                       GPUs: the fewest and cheapest that make it fit a GPU, what each saves and costs, and the lines \
                       to add; takes minutes. Executes the command.",
        annotations(read_only_hint = false)
    )]
    async fn fix(&self, Parameters(options): Parameters<FixOptions>) -> CallToolResult {
        self.answer(move |_, maker| tools::fix(maker, &options)).await
    }

    #[tool(
        description = "Run a Python program on a virtual GPU, without a GPU, and record a snapshot: does it fit, and \
                       where does it run out of memory? Executes the command.",
        annotations(read_only_hint = false)
    )]
    async fn run(&self, Parameters(options): Parameters<RunOptions>) -> CallToolResult {
        self.answer(move |_, maker| tools::run(maker, &options)).await
    }
}

#[tool_handler(
    name = "snapscope",
    instructions = "Explains the GPU memory of PyTorch programs from snapshots of torch.cuda.memory._dump_snapshot. For \
                    an out-of-memory error: open the snapshot or the log, ask for findings, follow the first finding, \
                    and prove a remedy with replay (settings) or run (changed code) before you propose it. Without a \
                    snapshot, run the program on a virtual GPU. Each answer ends with the next useful questions; \
                    sizes are requested bytes unless named reserved or allocated."
)]
impl ServerHandler for Server {}
