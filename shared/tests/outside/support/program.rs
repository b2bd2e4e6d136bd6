//! Runs programs of requests as text and writes the resulting events, so that PyTorch's results can be kept and
//! compared.
//!
//! ```text
//! card 2147483648 1610612736     the device's bytes, and those that are left to the allocator
//! torch 2.11
//! conf max_split_size_mb:128
//! a 0 1000                       request 0: 1000 bytes on stream 0 from pool 0
//! > segment_alloc 0+0 2097152    segment 0 was allocated; segments are numbered by their first appearance
//! > alloc 0+0 1000               the block lies at its start
//! a 1 600000 s1 p1               on stream 1, from private pool 1
//! u 0 2                          stream 2 uses the block of request 0
//! f 0                            request 0 is freed
//! > free_requested 0+0 1000
//! d 0                            stream 2 is done
//! > free_completed 0+0 1000
//! f 1
//! > free 1+0 600000              requested and completed at once
//! e                              the cache is emptied
//! b 1                            pool 1 takes requests from here on; it is created if it is new,
//! b 2 no_split use_on_oom        with the options of a `MemPool`
//! n 1                            pool 1 takes no more requests
//! x 1                            pool 1 loses its user, and its free memory is released
//! | 1+0 2097152 small s1 p1      what is left at the end: a segment and its blocks
//! |  2097152 free
//! ```
//!
//! Pending frees that end together do so in the order of a hash table of PyTorch, so the text sorts them.

use std::fmt::{self, Write as _};

use hashbrown::HashMap;

use shared::allocator::{
    Allocator, BlockId, BlockUse, Event, EventKind, PendingFree, PoolKey, PoolOptions, SegmentState, Settings,
    TorchVersion, VirtualCard,
};

/// Runs a program and writes it again with the results of each line.
///
/// Results in the text are ignored: a text with correct results comes back unchanged.
///
/// # Errors
/// Returns an error at the first line that is not part of this language.
pub(crate) fn run(text: &str) -> Result<String, String> {
    let mut machine = Machine::default();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with(['>', '|']) {
            continue;
        }
        machine.line(line).map_err(|message| format!("line {}: {message}", index + 1))?;
    }
    Ok(machine.finish())
}

#[derive(Default)]
struct Machine {
    card_bytes: (u64, u64),
    settings: Settings,
    allocator: Option<Allocator<VirtualCard>>,
    blocks: HashMap<u64, BlockId>,
    pending: HashMap<u64, PendingFree>,
    pools: HashMap<u64, PoolKey>,
    names: Names,
    output: String,
}

impl Machine {
    fn line(&mut self, line: &str) -> Result<(), String> {
        self.output.push_str(line);
        self.output.push('\n');
        let words: Vec<&str> = line.split(' ').collect();
        match *words.as_slice() {
            ["card", total, usable] => self.card_bytes = (number(total)?, number(usable)?),
            ["torch", version] => self.settings.version = torch_version(version)?,
            ["conf"] => {}
            ["conf", conf] => {
                self.settings = Settings::parse(conf, self.settings.version).map_err(|error| error.to_string())?;
            }
            ["a", request, size, ref options @ ..] => self.allocate(number(request)?, number(size)?, options)?,
            ["f", request] => {
                let block = self.block(request)?;
                if let Some(pending) = self.allocator().free(block) {
                    self.pending.insert(number(request)?, pending);
                }
            }
            ["u", request, stream] => {
                let (block, stream) = (self.block(request)?, number(stream)?);
                self.allocator().record_stream(block, stream);
            }
            ["d", request] => {
                let pending = self.pending.get(&number(request)?).copied();
                let pending = pending.ok_or_else(|| format!("the free of request {request} waits for nothing"))?;
                self.allocator().complete(pending);
            }
            ["e"] => self.allocator().empty_cache(),
            ["b", pool, ref options @ ..] => self.begin(number(pool)?, options)?,
            ["n", _] => self.allocator().end_capture(),
            ["x", pool] => {
                let pool = self.pool(number(pool)?);
                self.allocator().release_pool(pool);
                self.allocator().empty_pool(pool);
            }
            _ => return Err(format!("not a line of a program: {line}")),
        }
        self.write_events();
        Ok(())
    }

    fn allocator(&mut self) -> &mut Allocator<VirtualCard> {
        let (total_bytes, usable_bytes) = self.card_bytes;
        let settings = &self.settings;
        self.allocator
            .get_or_insert_with(|| Allocator::new(settings.clone(), VirtualCard::new(total_bytes, usable_bytes)))
    }

    fn allocate(&mut self, request: u64, size_bytes: u64, options: &[&str]) -> Result<(), String> {
        let (mut stream, mut pool) = (0, PoolKey::DEFAULT);
        for option in options {
            match option.split_at_checked(1) {
                Some(("s", index)) => stream = number(index)?,
                Some(("p", index)) => pool = self.pool(number(index)?),
                _ => return Err(format!("no such option: {option}")),
            }
        }
        if let Ok(block) = self.allocator().allocate(size_bytes, stream, pool) {
            self.blocks.insert(request, block);
        }
        Ok(())
    }

    fn block(&self, request: &str) -> Result<BlockId, String> {
        self.blocks.get(&number(request)?).copied().ok_or_else(|| format!("request {request} has no block"))
    }

    /// Returns the pool of that number, and creates it with one user if it is new.
    fn pool(&mut self, index: u64) -> PoolKey {
        if let Some(pool) = self.pools.get(&index) {
            return *pool;
        }
        let pool = self.allocator().create_pool();
        self.pools.insert(index, pool);
        pool
    }

    fn begin(&mut self, index: u64, words: &[&str]) -> Result<(), String> {
        let mut options = PoolOptions::default();
        for word in words {
            match *word {
                "no_split" => options.is_unsplit = true,
                "use_on_oom" => options.helps_out = true,
                _ => return Err(format!("no such option: {word}")),
            }
        }
        if !self.pools.contains_key(&index) {
            let pool = self.allocator().create_pool_with(options);
            self.pools.insert(index, pool);
        }
        self.allocator().begin_capture();
        Ok(())
    }

    fn write_events(&mut self) {
        let Some(allocator) = &mut self.allocator else { return };
        let mut events = allocator.events().to_vec();
        allocator.clear_events();
        for run in events.chunk_by_mut(|a, b| a.kind == b.kind) {
            if run[0].kind == EventKind::FreeCompleted {
                run.sort_by_key(|event| (self.names.of(event.addr), event.size_bytes));
            }
        }
        let mut rest = events.as_slice();
        while let [event, after @ ..] = rest {
            rest = after;
            let is_both = |next: &&Event| {
                (event.kind, next.kind) == (EventKind::FreeRequested, EventKind::FreeCompleted)
                    && event.addr == next.addr
            };
            if after.first().filter(is_both).is_some() {
                rest = &after[1..];
                self.write_event(event, "free");
            } else {
                self.write_event(event, event.kind.name());
            }
        }
    }

    fn write_event(&mut self, event: &Event, word: &str) {
        if matches!(event.kind, EventKind::SegmentAlloc | EventKind::SegmentMap) {
            let reserved = self.card_bytes.0 + self.card_bytes.0 / 8;
            self.names.add(event.addr, event.size_bytes, (event.kind == EventKind::SegmentMap).then_some(reserved));
        }
        let _ = match event.kind {
            EventKind::Oom => writeln!(self.output, "> oom {} free={}", event.size_bytes, event.addr),
            _ => writeln!(self.output, "> {word} {} {}", self.names.of(event.addr), event.size_bytes),
        };
        if matches!(event.kind, EventKind::SegmentFree | EventKind::SegmentUnmap) {
            self.names.remove(event.addr, event.size_bytes);
        }
    }

    fn finish(mut self) -> String {
        let segments = self.allocator().segments();
        let pool_names: HashMap<PoolKey, u64> = self.pools.iter().map(|(name, key)| (*key, *name)).collect();
        let mut named: Vec<_> = segments.iter().map(|segment| (self.names.of(segment.addr), segment)).collect();
        named.sort_by_key(|(name, _)| *name);
        for (name, segment) in named {
            let pool = pool_names.get(&segment.pool).copied().unwrap_or(0);
            write_segment(&mut self.output, name, segment, pool);
        }
        self.output
    }
}

fn write_segment(output: &mut String, name: Name, segment: &SegmentState, pool: u64) {
    let half = if segment.is_small { "small" } else { "large" };
    let expandable = if segment.is_expandable { " expandable" } else { "" };
    let _ = writeln!(output, "| {name} {} {half} s{} p{pool}{expandable}", segment.size_bytes, segment.stream);
    for block in &segment.blocks {
        let _ = match block.state {
            BlockUse::Allocated => writeln!(output, "|  {} allocated {}", block.size_bytes, block.requested_bytes),
            BlockUse::PendingFree => writeln!(output, "|  {} pending {}", block.size_bytes, block.requested_bytes),
            BlockUse::Free | BlockUse::Unmapped => writeln!(output, "|  {} free", block.size_bytes),
        };
    }
}

/// Number of a segment and an offset in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Name(usize, u64);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.0, self.1)
    }
}

/// A segment that is allocated.
struct Named {
    number: usize,
    start: u64,
    length: u64,
    mapped_bytes: u64,
}

/// Allocated segments by number, because addresses differ from run to run and numbers do not.
#[derive(Default)]
struct Names {
    count: usize,
    live: Vec<Named>,
}

impl Names {
    /// Adds a segment, or memory of an expandable one, which gets its number with its first memory.
    fn add(&mut self, addr: u64, size_bytes: u64, reserved_bytes: Option<u64>) {
        if let Some(row) = self.find(addr).filter(|_| reserved_bytes.is_some()) {
            self.live[row].mapped_bytes += size_bytes;
            return;
        }
        let length = reserved_bytes.unwrap_or(size_bytes);
        self.live.push(Named { number: self.count, start: addr, length, mapped_bytes: size_bytes });
        self.count += 1;
    }

    fn remove(&mut self, addr: u64, size_bytes: u64) {
        let Some(row) = self.find(addr) else { return };
        self.live[row].mapped_bytes -= size_bytes;
        if self.live[row].mapped_bytes == 0 {
            self.live.swap_remove(row);
        }
    }

    /// Returns the segment that holds an address.
    ///
    /// The length of an expandable segment is only an upper bound, so the one with the nearest start wins.
    fn find(&self, addr: u64) -> Option<usize> {
        let holds = |row: &usize| {
            let &Named { start, length, .. } = &self.live[*row];
            (start..start + length).contains(&addr)
        };
        (0..self.live.len()).filter(holds).max_by_key(|row| self.live[*row].start)
    }

    fn of(&self, addr: u64) -> Name {
        let Some(row) = self.find(addr) else { return Name(self.count, addr) };
        Name(self.live[row].number, addr - self.live[row].start)
    }
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("no number: {word}"))
}

fn torch_version(word: &str) -> Result<TorchVersion, String> {
    let parts = word.split_once('.').and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
    parts.map(|(major, minor)| TorchVersion(major, minor)).ok_or_else(|| format!("no version: {word}"))
}
