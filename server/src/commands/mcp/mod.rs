//! Implements `snapscope mcp`, which answers questions of an agent by the Model Context Protocol.
//!
//! The protocol is the official library's (`rmcp`). A tool reads its parameters as options of the command that answers
//! the same question, and adds the next questions to that command's report and page.
//!
//! Invariant: no tool computes a figure, each answer has a limited size, and nothing that a tool started outlives the
//! conversation.

mod answer;
mod link;
mod maker;
mod options;
mod server;
mod shelf;
mod tools;
mod words;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use rmcp::ServiceExt as _;
use rmcp::transport::stdio;

use super::repro::progress::interrupted;
use crate::Failure;
use crate::config::ScriptConfig;
use maker::Maker;
use server::Server;
use shelf::Shelf;

/// Interval between looks at signals and at commands that end.
const TICK: Duration = Duration::from_millis(50);

/// Time in which a command that nobody waits for has to end.
const TO_END: Duration = Duration::from_secs(20);

/// The options of `snapscope mcp`.
#[derive(Debug, Clone, Args)]
pub struct McpArgs {}

impl McpArgs {
    /// Answers requests on standard input until it ends; standard output belongs to the protocol.
    pub fn run(&self) -> Result<(), Failure> {
        let maker = Arc::new(Maker::new(ScriptConfig::from_environment()?, interrupted()));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| {
            Failure::new(format!("threads cannot be started: {error}"), "raise the limit of processes (`ulimit -u`)")
        })?;
        let served = runtime.block_on(converse(&maker));
        maker.is_over.store(true, Ordering::Relaxed);
        let deadline = Instant::now() + TO_END;
        while maker.is_busy() && Instant::now() < deadline {
            std::thread::sleep(TICK);
        }
        runtime.shutdown_background();
        served
    }
}

/// Answers requests until the client leaves, or a signal arrives.
async fn converse(maker: &Arc<Maker>) -> Result<(), Failure> {
    let server = Server::new(Shelf::default(), Arc::clone(maker));
    let service = server.serve(stdio()).await.map_err(|error| {
        let hint = "an MCP client starts this command, such as `claude mcp add snapscope -- snapscope mcp`";
        Failure::new(format!("the conversation cannot begin: {error}"), hint)
    })?;
    let stopped = async {
        while !maker.is_over.load(Ordering::Relaxed) {
            tokio::time::sleep(TICK).await;
        }
    };
    tokio::select! {
        _ = service.waiting() => {}
        () = stopped => {}
    }
    Ok(())
}
