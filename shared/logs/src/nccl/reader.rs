//! Adds up the memory of NCCL by process and GPU, line by line.
//!
//! Except in builds for tracing, NCCL does not say what it frees. But an address that is handed out again was free, so the
//! sum has each address once: it is exact while communicators live, and an upper bound after some were destroyed.
//!
//! ```text
//! Cuda Alloc Size 4194304 pointer 0x10000000      4 MiB
//! Cuda Alloc Size 8388608 pointer 0x20000000     12 MiB
//! Cuda Alloc Size 2097152 pointer 0x10000000     10 MiB: the first buffer was freed
//! ```

use super::message::Message;
use super::pages::{Origin, PAGE_BYTES, Pages, split_origin};
use crate::sampled::Sample;
use crate::source::LineReader;
use hashbrown::HashMap;
use shared::base::{ShortSort, stamp::Stamp};

/// Most processes, most buffers of all of them, most kinds of buffers and most samples that are kept.
const MOST_PROCESSES: usize = 4096;
const MOST_BUFFERS: usize = 2_000_000;
const MOST_SIZES: usize = 4096;
const MOST_SAMPLES: usize = 1_000_000;

/// Kinds of buffers that a log lists.
const MOST_LISTED: usize = 64;

#[derive(Debug, Default)]
pub struct NcclReader {
    log: NcclLog,
    /// What lives in each process of the log.
    live: Vec<Live>,
    /// Count of each size by place.
    sizes: HashMap<(String, u64), u64>,
    buffers: usize,
    samples: usize,
}

/// What lives in one process, in bytes by address.
#[derive(Debug, Default)]
struct Live {
    device: HashMap<u64, u64>,
    pinned: HashMap<u64, u64>,
    pages: Pages,
}

impl LineReader for NcclReader {
    type Log = NcclLog;

    fn line(&mut self, line: &str) -> bool {
        if !line.contains("NCCL ") {
            return false;
        }
        let Some((origin, stamp, text)) = split_origin(line) else { return false };
        let Some(message) = Message::of(text) else { return false };
        if let Message::Other = message {
            return true;
        }
        let Some(process) = self.process(&origin) else {
            self.log.left_out += 1;
            return true;
        };
        self.message(process, message);
        self.sample(process, stamp);
        true
    }

    fn finish(self) -> NcclLog {
        let sizes = self.sizes.into_iter().map(|((place, bytes), count)| NcclSize { place, bytes, count });
        let mut sizes: Vec<NcclSize> = sizes.collect();
        let key = |size: &NcclSize| (std::cmp::Reverse(size.bytes.saturating_mul(size.count)), size.bytes);
        sizes.short_sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.place.cmp(&b.place)));
        sizes.truncate(MOST_LISTED);
        NcclLog { sizes, ..self.log }
    }
}

impl NcclReader {
    /// Returns the position of the process of a line; `None` if there are too many.
    fn process(&mut self, origin: &Origin<'_>) -> Option<usize> {
        let Origin { host, pid, device } = *origin;
        let processes = &mut self.log.processes;
        let is_same = |known: &NcclProcess| known.pid == pid && known.device == device && known.host == host;
        // Lines of one process often follow each other.
        if let Some(position) = processes.iter().rposition(is_same) {
            return Some(position);
        }
        (processes.len() < MOST_PROCESSES).then(|| {
            processes.push(NcclProcess { host: host.to_owned(), pid, device, ..NcclProcess::default() });
            self.live.push(Live::default());
            processes.len() - 1
        })
    }

    fn message(&mut self, process: usize, message: Message<'_>) {
        match message {
            Message::Device { place, pointer, bytes } => self.allocate(process, place, pointer, bytes),
            Message::Free { pointer } => self.free(process, pointer),
            Message::Pinned { pointer, bytes } => {
                if self.has_room() {
                    let before = self.live[process].pinned.insert(pointer, bytes).unwrap_or(0);
                    self.buffers += usize::from(before == 0);
                    let pinned = &mut self.log.processes[process].pinned_bytes;
                    *pinned = pinned.saturating_sub(before).saturating_add(bytes);
                }
            }
            Message::Shared { bytes } => {
                let shared = &mut self.log.processes[process].shared_bytes;
                *shared = shared.saturating_add(bytes);
            }
            Message::Communicator { rank, ranks, gpu } => {
                let process = &mut self.log.processes[process];
                process.communicators += 1;
                process.gpu = process.gpu.or(gpu);
                if process.rank.is_none_or(|(_, most)| ranks > most) {
                    process.rank = Some((rank, ranks));
                }
            }
            Message::Other => {}
        }
    }

    /// Returns true while a buffer can be kept, and counts it otherwise.
    fn has_room(&mut self) -> bool {
        let has_room = self.buffers < MOST_BUFFERS;
        self.log.left_out += u64::from(!has_room);
        has_room
    }

    fn allocate(&mut self, process: usize, place: &str, pointer: u64, bytes: u64) {
        if bytes == 0 || !self.has_room() {
            return;
        }
        // A buffer for other processes has a second line, and one of cuMem a first with its whole pages.
        let known = self.live[process].device.get(&pointer).copied();
        if known
            .is_some_and(|known| known >= bytes && bytes.checked_next_multiple_of(known.min(PAGE_BYTES)) == Some(known))
        {
            return;
        }
        self.free(process, pointer);
        let Live { device, pages, .. } = &mut self.live[process];
        device.insert(pointer, bytes);
        pages.add(pointer, bytes);
        let paged_bytes = pages.bytes();
        self.buffers += 1;
        let process = &mut self.log.processes[process];
        process.allocations += 1;
        process.device_bytes = process.device_bytes.saturating_add(bytes);
        process.paged_bytes = paged_bytes;
        process.peak_bytes = process.peak_bytes.max(paged_bytes);
        let key = (place.to_owned(), bytes);
        if self.sizes.len() < MOST_SIZES || self.sizes.contains_key(&key) {
            *self.sizes.entry(key).or_default() += 1;
        }
    }

    fn free(&mut self, process: usize, pointer: u64) {
        let Live { device, pinned, pages } = &mut self.live[process];
        let process = &mut self.log.processes[process];
        if let Some(bytes) = device.remove(&pointer) {
            pages.remove(pointer, bytes);
            process.device_bytes = process.device_bytes.saturating_sub(bytes);
            process.paged_bytes = pages.bytes();
            process.freed += 1;
            self.buffers -= 1;
        } else if let Some(bytes) = pinned.remove(&pointer) {
            process.pinned_bytes = process.pinned_bytes.saturating_sub(bytes);
            self.buffers -= 1;
        }
    }

    /// Adds the memory on the GPU after a line with a date.
    fn sample(&mut self, process: usize, stamp: Option<Stamp>) {
        let Some(time_ms) = stamp.and_then(|stamp| stamp.epoch_ms()) else { return };
        let NcclProcess { samples, paged_bytes: bytes, .. } = &mut self.log.processes[process];
        match samples.last_mut() {
            // Threads of a process do not write in order.
            Some(last) if last.time_ms >= time_ms => last.bytes = *bytes,
            _ if self.samples < MOST_SAMPLES => {
                samples.push(Sample { time_ms, bytes: *bytes });
                self.samples += 1;
            }
            _ => {}
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NcclLog {
    /// Processes in the order of their first lines, one for each GPU that a process uses.
    pub processes: Vec<NcclProcess>,
    /// Kinds of allocations on GPUs, the one with the most memory first.
    pub sizes: Vec<NcclSize>,
    /// Number of allocations beyond those that are kept.
    pub left_out: u64,
}

/// Memory of NCCL in one process on one GPU; sizes are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NcclProcess {
    pub host: String,
    pub pid: u32,
    /// Number of the GPU as CUDA has it within the process.
    pub device: u32,
    /// Number of the GPU as nvidia-smi has it, if the log states it.
    pub gpu: Option<u32>,
    /// Rank in the largest communicator and its number of ranks, if the log states them.
    pub rank: Option<(u32, u32)>,
    /// Communicators that the log says were created.
    pub communicators: u64,
    /// Memory on the GPU at the end of the log, as it was asked for.
    pub device_bytes: u64,
    /// The same in whole pages, which is what the GPU has less.
    pub paged_bytes: u64,
    /// Most of [`paged_bytes`](Self::paged_bytes).
    pub peak_bytes: u64,
    /// Allocations on the GPU.
    pub allocations: u64,
    /// Allocations on the GPU that were freed, as far as the log shows it.
    pub freed: u64,
    /// Host memory that GPUs reach, which cannot be swapped out.
    pub pinned_bytes: u64,
    /// Shared memory of the host that this process created.
    pub shared_bytes: u64,
    /// Memory on the GPU over time, in whole pages, if the lines have dates.
    pub samples: Vec<Sample>,
}

/// Allocations of one size at one place of NCCL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NcclSize {
    /// Source file and line, such as `transport/net.cc:377`, or empty.
    pub place: String,
    pub bytes: u64,
    pub count: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::read_lines;

    fn read(text: &str) -> NcclLog {
        read_lines::<NcclReader>(text)
    }

    /// Lines of NVIDIA/nccl#660 and ultralytics/ultralytics#12905, among others.
    const PUBLISHED: &str = "\
    vm2:15364:15375 [0] NCCL INFO transport/net.cc:377 Cuda Alloc Size 33554432 pointer 0x7fbe9c000000
    vm2:15364:15364 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7fbfac000000 recvbuff 0x7fbf2c000000 count 536870912 datatype 7 op 0 root 0 comm 0x7fc030000d00 [nranks=2] stream 0x4de7c00
    vm2:15364:15364 [0] NCCL INFO Launch mode Parallel
    vm1:58934:58945 [0] NCCL INFO transport/net_ib.cc:657 Ib Alloc Size 21688 pointer 0x7f15f8268000
    aetech:1315:1371 [3] NCCL INFO init.cc:310 Mem Alloc Size 32 pointer 0x7f081805a050
    ";

    #[test]
    fn only_memory_on_gpus_counts() {
        let log = read(PUBLISHED);
        let [process] = log.processes.as_slice() else { panic!("{log:?}") };
        assert_eq!((process.host.as_str(), process.pid, process.device), ("vm2", 15_364, 0));
        assert_eq!((process.device_bytes, process.paged_bytes, process.allocations), (32 << 20, 32 << 20, 1));
        let size = NcclSize { place: "transport/net.cc:377".into(), bytes: 32 << 20, count: 1 };
        assert_eq!((log.sizes, process.samples.len()), (vec![size], 0));
    }

    #[test]
    fn small_buffers_of_one_page_take_one_page() {
        // pytorch/pytorch#76103, in which all of them lie within 2 MiB.
        let text = "3248b199c7c7:127105:132390 [0] NCCL INFO channel.cc:23 Cuda Alloc Size 768 pointer 0x7fcc2f802400\n\
                    3248b199c7c7:127105:132390 [0] NCCL INFO channel.cc:27 Cuda Alloc Size 4 pointer 0x7fcc2f802800\n\
                    3248b199c7c7:127105:132390 [0] NCCL INFO channel.cc:23 Cuda Alloc Size 768 pointer 0x7fcc2f802a00\n";
        let log = read(text);
        assert_eq!((log.processes[0].device_bytes, log.processes[0].paged_bytes), (1540, 2 << 20));
        assert_eq!((log.sizes[0].bytes, log.sizes[0].count), (768, 2));
    }

    #[test]
    fn processes_write_in_turn() {
        // huggingface/accelerate#2183.
        let text = "axon:5020:5091 [1] NCCL INFO channel.cc:52 Cuda Alloc Size 16 pointer 0x7f4ee8000800\n\
                    axon:5021:5090 [2] NCCL INFO channel.cc:52 Cuda Alloc Size 16 pointer 0x7f04e4000800\n\
                    axon:5019:5088 [0] NCCL INFO channel.cc:52 Cuda Alloc Size 16 pointer 0x7f94f4001200\n\
                    axon:5020:5091 [1] NCCL INFO channel.cc:40 Cuda Alloc Size 1536 pointer 0x7f4ee8000a00\n\
                    axon:5019:5088 [0] NCCL INFO Allocated 9637892 bytes of shared memory in /dev/shm/nccl-CmU6vI\n\
                    axon:5022:5092 [3] NCCL INFO Mem Realloc old size 0, new size 8 pointer 0x7f9984004f00\n";
        let log = read(text);
        let found = log.processes.iter().map(|process| (process.pid, process.device_bytes, process.shared_bytes));
        assert!(found.eq([(5020, 1552, 0), (5021, 16, 0), (5019, 16, 9_637_892)]), "{log:?}");
    }

    #[test]
    fn an_address_that_comes_again_was_free() {
        let line =
            |bytes: u64, pointer: u64| format!("a:1:2 [0] NCCL INFO Cuda Alloc Size {bytes} pointer {pointer:#x}\n");
        let log = read(&(line(4 << 20, 1 << 28) + &line(8 << 20, 1 << 29) + &line(2 << 20, 1 << 28)));
        let process = &log.processes[0];
        assert_eq!((process.device_bytes >> 20, process.peak_bytes >> 20, process.freed), (10, 12, 1));
        let text = line(4 << 20, 1 << 28) + "a:1:2 [0] 7.5 ncclCudaFree:152 NCCL TRACE Cuda Free pointer 0x10000000\n";
        assert_eq!((read(&text).processes[0].device_bytes, read(&text).processes[0].freed), (0, 1));
    }

    #[test]
    fn two_lines_about_one_buffer_are_one_buffer() {
        let text = "a:1:2 [0] NCCL INFO Cuda Alloc Size 10485760 pointer 0x7f0000000000\n\
                    a:1:2 [0] NCCL INFO Allocated shareable buffer 0x7f0000000000 size 10485760 ipcDesc 0x7fd0\n\
                    a:1:2 [0] 7.5 ncclCuMemAlloc:152 NCCL TRACE CuMem Alloc Size 2097152 pointer 0x7e0000000000 handle 7\n\
                    a:1:2 [0] NCCL INFO init.cc:9 Cuda Alloc Size 4096 pointer 0x7e0000000000\n";
        let process = &read(text).processes[0];
        assert_eq!((process.device_bytes, process.allocations, process.freed), ((10 << 20) + (2 << 20), 2, 0));
    }

    #[test]
    fn dates_make_a_course_and_communicators_name_ranks() {
        let text = "[2026-11-24 10:00:00] a:1:2 [0] NCCL INFO ncclCommInitRank comm 0x1 rank 9 nranks 16 cudaDev 0 nvmlDev 1 busId 7 commId 0x2 - Init COMPLETE\n\
                    [2026-11-24 10:00:01] a:1:2 [0] NCCL INFO Cuda Alloc Size 4194304 pointer 0x10000000\n\
                    [2026-11-24 10:00:01] a:1:3 [0] NCCL INFO Cuda Alloc Size 4194304 pointer 0x20000000\n\
                    [2026-11-24 10:00:02] a:1:2 [0] NCCL INFO ncclCommSplit comm 0x3 rank 1 nranks 2 cudaDev 0 nvmlDev 1 busId 7 parent 0x1 color 0 key 1 commId 0x2 - Init COMPLETE\n\
                    [2026-11-24 10:00:03] a:9:9 [0] NCCL INFO Cuda Host Alloc Size 4096 pointer 0x10000000\n";
        let log = read(text);
        let [process, other] = log.processes.as_slice() else { panic!("{log:?}") };
        assert_eq!((process.rank, process.gpu, process.communicators), (Some((9, 16)), Some(1), 2));
        let mib: Vec<u64> = process.samples.iter().map(|sample| sample.bytes >> 20).collect();
        assert_eq!(mib, [0, 8, 8]);
        assert_eq!((other.device_bytes, other.pinned_bytes), (0, 4096));
    }
}
