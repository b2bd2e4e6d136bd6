//! Lists the kinds of findings.

crate::codes! {
    /// Kind of a finding: its name is a promise to programs.
    pub enum FindingCode {
        /// Each step's autograd graph stays in memory.
        GraphsKept => "graphs-kept",
        /// A tensor that is carried from step to step, or between the passes of one, leads to the graphs of earlier ones.
        StateChained => "state-chained",
        /// A tensor grows, and each step allocates a larger copy of it.
        TensorGrows => "tensor-grows",
        /// The KV cache carries over from one conversation or prompt to the next.
        KvCacheKept => "kv-cache-kept",
        /// The model's outputs stay in memory after each step.
        OutputsKept => "outputs-kept",
        /// Activations of layers stay in memory after each step, as by a forward hook.
        ActivationsKept => "activations-kept",
        /// Batches or other input tensors stay on the GPU after each step.
        BatchesKept => "batches-kept",
        /// Copies of the model's weights or gradients accumulate.
        CopiesKept => "copies-kept",
        /// New models are created while the old ones stay in memory.
        ModelsKept => "models-kept",
        /// Each step's gradients stay in memory.
        GradientsKept => "gradients-kept",
        /// The autograd graph of each evaluation stays in memory.
        EvaluationGraphsKept => "evaluation-graphs-kept",
        /// Tensors of each evaluation stay in memory.
        EvaluationOutputsKept => "evaluation-outputs-kept",
        /// The optimizer's state grows with each step.
        OptimizerStateGrows => "optimizer-state-grows",
        /// A scalar tensor of each step, such as a loss, stays on the GPU.
        NumbersKept => "numbers-kept",
        /// A tensor that the program itself computes stays in memory after each step.
        TensorsKept => "tensors-kept",
        /// Memory grows with each step, and no function in the stacks shows what it is for.
        MemoryGrows => "memory-grows",
        /// An evaluation collects its outputs on the GPU until it ends.
        EvaluationOutputsCollected => "evaluation-outputs-collected",
        /// Tensors accumulate over several steps and are then freed all at once.
        CollectedInEpoch => "collected-in-epoch",
        /// State of an optimizer that no longer steps stays in memory.
        OptimizerLeft => "optimizer-left",
        /// Host memory of a program climbs steadily, within each epoch or through the whole log.
        HostMemoryClimbs => "host-memory-climbs",
        /// Workers copy pages that they share with the main process, because they count references to Python objects.
        WorkersCopyOnWrite => "workers-copy-on-write",
        /// Shared memory of a program climbs, or stays after its end.
        SharedMemoryKept => "shared-memory-kept",
        /// Batches that wait in full queues in shared memory are most of a program's peak.
        SharedMemoryAtPeak => "shared-memory-at-peak",
        /// Arenas of malloc, one for each thread, have most of a process's memory.
        MallocArenas => "malloc-arenas",
        /// Host memory is higher after each epoch than after the one before.
        HostMemoryKept => "host-memory-kept",
        /// Little of the machine's memory is available.
        HostNearlyFull => "host-nearly-full",
        /// Lines of a program whose objects hold the most host memory.
        HostMemoryByLine => "host-memory-by-line",
        /// Objects that a line of a program allocates hold more host memory in each snapshot than in the one before.
        HostLineGrows => "host-line-grows",
        /// The kernel killed a process because host memory ran out.
        HostProcessKilled => "host-process-killed",
        /// Shared memory is full, through which workers of a data loader send batches.
        SharedMemoryFull => "shared-memory-full",
        /// The host refused memory to the program.
        HostOutOfMemory => "host-out-of-memory",
        /// A request for memory failed.
        OutOfMemory => "out-of-memory",
        /// An attempt that ran out of memory still holds memory while the next attempt runs.
        FailedTryKept => "failed-try-kept",
        /// Memory of the GPU was in use outside PyTorch's allocator when memory ran out.
        OutsidePytorch => "outside-pytorch",
        /// A kernel used an index or an address out of range: no lack of memory.
        KernelFault => "kernel-fault",
        /// An inference engine finds too little GPU memory for its KV cache.
        KvCacheTooSmall => "kv-cache-too-small",
        /// NCCL holds GPU memory outside PyTorch's allocator.
        NcclMemory => "nccl-memory",
        /// CUDA graphs take much of the GPU's memory, such as those of an inference engine.
        CudaGraphsLarge => "cuda-graphs-large",
        /// An inference engine leaves GPU memory unused that its KV cache could have.
        RoomOfEngineUnused => "gpu-memory-unused",
        /// Memory in use on a GPU climbs, as the driver counts it.
        CardMemoryClimbs => "card-memory-climbs",
        /// Several processes use much memory of one GPU.
        GpuShared => "gpu-shared",
        /// Gradients stay in memory between steps and do not grow.
        GradientsStay => "gradients-stay",
        /// A step's autograd graph is still in memory while the next step builds its own.
        GraphOutlivesStep => "graph-outlives-step",
        /// Activations that checkpointing recomputes stay in memory after backward.
        RecomputedActivationsStay => "recomputed-activations-stay",
        /// Several forward passes run before one backward pass, so that their graphs are in memory at once.
        SeveralGraphsAtOnce => "several-graphs-at-once",
        /// PyTorch's cache is emptied again and again.
        CacheEmptied => "cache-emptied",
        /// PyTorch reserves much more memory than is live.
        ReservedAboveLive => "reserved-above-live",
        /// The loss is computed in 16 bits.
        LossIn16Bits => "loss-in-16-bits",
        /// An evaluation or another forward pass keeps activations that no backward pass uses.
        EvaluationWithGraph => "evaluation-with-graph",
        /// The peak occurs while the model loads, because weights are created and then replaced.
        PeakAtLoading => "peak-at-loading",
        /// A loaded checkpoint stays on the GPU in addition to the model.
        CheckpointKept => "checkpoint-kept",
        /// The logits of a loss over many classes and their copies are much of the peak.
        LogitsAtPeak => "logits-at-peak",
        /// A convolution without a kernel of cuDNN unfolds its input into columns.
        ConvolutionUnfolded => "convolution-unfolded",
        /// Many tensors of at most 512 bytes are live at the peak.
        TinyAllocations => "tiny-allocations",
        /// A GPU without weights takes part in training steps.
        DeviceWithoutWeights => "device-without-weights",
        /// One GPU of the process needs more memory than all others.
        DevicesUneven => "devices-uneven",
        /// The peak exceeds the limit that the user set.
        PeakAboveLimit => "peak-above-limit",
        /// The reserved memory exceeds the limit that the user set.
        ReservedAboveLimit => "reserved-above-limit",
        /// Memory grows faster than the limit that the user set.
        GrowthAboveLimit => "growth-above-limit",
        /// The peak or the reserved memory exceeds the memory of the GPU.
        CardTooSmall => "card-too-small",
        /// Reserved memory leaves little room on the GPU.
        CardNearlyFull => "card-nearly-full",
        /// The recording is too short, or has no stacks, so that it cannot be judged.
        TooLittleRecorded => "too-little-recorded",
        /// Memory is higher than before the first step for normal reasons and does not leak.
        Settled => "settled",
        /// Each step copies tensors from memory of the host that is not pinned.
        HostCopiesEachStep => "host-copies-each-step",
        /// Each step waits for several values of the GPU.
        GpuReadEachStep => "gpu-read-each-step",
        /// Contiguous copies are much of what each step allocates.
        ContiguousCopies => "contiguous-copies",
        /// Each step creates the same large tensors.
        TensorsRecreated => "tensors-recreated",
        /// Pinned host memory is in blocks that are rounded up to powers of two.
        PinnedMemoryRounded => "pinned-memory-rounded",
        /// Composition of the peak.
        Peak => "peak",
    }
}

impl FindingCode {
    /// Returns the words for it in a list of what was checked; `None` if a clean result needs no mention of it.
    pub const fn checked_for(self) -> Option<&'static str> {
        match self {
            Self::GraphsKept
            | Self::StateChained
            | Self::TensorGrows
            | Self::KvCacheKept
            | Self::OutputsKept
            | Self::ActivationsKept
            | Self::BatchesKept
            | Self::CopiesKept
            | Self::ModelsKept
            | Self::GradientsKept
            | Self::EvaluationGraphsKept
            | Self::EvaluationOutputsKept
            | Self::OptimizerStateGrows
            | Self::NumbersKept
            | Self::TensorsKept
            | Self::MemoryGrows
            | Self::EvaluationOutputsCollected
            | Self::CollectedInEpoch
            | Self::OptimizerLeft => Some("memory growth"),
            Self::OutOfMemory | Self::FailedTryKept => Some("out-of-memory errors"),
            Self::GradientsStay | Self::GraphOutlivesStep | Self::RecomputedActivationsStay => {
                Some("tensors that outlive their step")
            }
            Self::SeveralGraphsAtOnce => Some("several autograd graphs at once"),
            Self::CacheEmptied => Some("an emptied cache"),
            Self::ReservedAboveLive => Some("unused reserved memory"),
            Self::LossIn16Bits => Some("a 16-bit loss"),
            _ => None,
        }
    }
}
