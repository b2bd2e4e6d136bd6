// The memory history: each event of the allocator as it happens, and what the allocator holds at a moment.
//
// PyTorch keeps the history of a run in memory and writes it at once: half a kilobyte an event, and as much again for
// the pickle. Here each event leaves by a callback, in the order of the allocator, and only its number of a stack stays.
#include "shim.h"

#include <ctime>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/ApproximateClock.h>

namespace allocator = c10::cuda::CUDACachingAllocator;

namespace snapscope {
void install_places();
}

// These structs have the layout of their counterparts in `src/history/ffi.rs`.
struct SnapscopeEvent {
  uint64_t address;
  uint64_t size;
  uint64_t ticks;
  int64_t stream;
  const char* text;  // what the recorder set as the user's metadata
  size_t text_length;
  uint32_t stack;
  int32_t device;
  int32_t action;  // the order of `TraceEntry::Action`
};

struct SnapscopeBlock {
  uint64_t size;
  uint64_t requested_size;
  uint32_t stack;
  int32_t state;  // 0: inactive, 1: waits until its streams have passed, 2: allocated
};

struct SnapscopeSegment {
  const SnapscopeBlock* blocks;
  size_t block_count;
  struct {
    uint64_t address;
    uint64_t total_size;
    uint64_t allocated_size;
    uint64_t active_size;
    uint64_t requested_size;
    int64_t stream;
    uint64_t pool[2];
    uint32_t stack;
    int32_t device;
    bool is_large;
    bool is_expandable;
  } values;
};

struct SnapscopeSettings {
  const char* text;
  const uint64_t* roundup_divisions;
  size_t roundup_count;
  struct {
    int64_t max_split_size;
    double garbage_collection_threshold;
    uint64_t register_threads;
    bool expandable_segments;
    bool release_lock;
    bool use_host_register;
    bool reuses_record_stream;
  } values;
};

namespace {

using Action = c10::CachingDeviceAllocator::TraceEntry::Action;

void (*on_event)(const SnapscopeEvent*) = nullptr;
void (*on_exhaustion)() = nullptr;

std::mutex exhaustion_mutex;
std::optional<snapscope::Place> exhaustion;

// Measures the processor's ticks against the time of day, from the start of the recording on.
c10::ApproximateClockToUnixTimeConverter& clock_of_recording() {
  static c10::ApproximateClockToUnixTimeConverter clock;
  return clock;
}

// Runs under the lock of a device's allocator.
void pass_on(const c10::CachingDeviceAllocator::TraceEntry& entry) {
  // A snapshot is no event of the training: those that are taken on the way would differ from run to run.
  if (entry.action_ == Action::SNAPSHOT) return;
  const SnapscopeEvent event{entry.addr_,
                             entry.size_,
                             static_cast<uint64_t>(entry.time_.approx_t_),
                             reinterpret_cast<int64_t>(entry.stream_),
                             entry.user_metadata_.data(),
                             entry.user_metadata_.size(),
                             snapscope::stack_number(entry.context_),
                             entry.device_,
                             static_cast<int32_t>(entry.action_)};
  on_event(&event);
}

// Runs on the thread that asked for memory, before its exception: everything is still alive.
void on_out_of_memory(int64_t, size_t, size_t, size_t) {
  {
    std::lock_guard<std::mutex> lock(exhaustion_mutex);
    exhaustion = snapscope::place();
  }
  on_exhaustion();
}

void visit_segment(const c10::CachingDeviceAllocator::SegmentInfo& info,
                   void (*visit)(void*, const SnapscopeSegment*), void* state) {
  std::vector<SnapscopeBlock> blocks;
  for (const auto& block : info.blocks) {
    blocks.push_back({block.size, block.requested_size, snapscope::stack_number(block.context_when_allocated),
                      block.allocated ? 2 : block.active ? 1 : 0});
  }
  const SnapscopeSegment segment{
      blocks.data(),
      blocks.size(),
      {info.address, info.total_size, info.allocated_size, info.active_size, info.requested_size,
       reinterpret_cast<int64_t>(info.stream),
       {info.owner_private_pool_id.first, info.owner_private_pool_id.second},
       snapscope::stack_number(info.context_when_allocated), info.device, info.is_large, info.is_expandable}};
  visit(state, &segment);
}

}  // namespace

// Starts CUDA and the memory history of every device, and learns from now on which place memory is asked for.
// `event` is called for each event under the lock of an allocator, `exhausted` when memory runs out.
SNAPSCOPE_API char* snapscope_start_recording(void (*event)(const SnapscopeEvent*), void (*exhausted)()) {
  return snapscope::guarded([&] {
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);  // the history is that of existing allocators only
    snapscope::install_places();
    clock_of_recording();
    on_event = event;
    on_exhaustion = exhausted;
    allocator::attachOutOfMemoryObserver(on_out_of_memory);
    allocator::attachAllocatorTraceTracker(pass_on);
    // The allocator's own history keeps the last event.
    allocator::recordHistory(true, snapscope::current_stack, 1, allocator::RecordContext::ALL, false, {});
  });
}

// What the allocators of all devices hold, and their settings.
SNAPSCOPE_API char* snapscope_held(void (*segment)(void*, const SnapscopeSegment*),
                                   void (*settings)(void*, const SnapscopeSettings*), void* state) {
  return snapscope::guarded([&] {
    const auto held = allocator::snapshot({0, 0}, false);
    for (const auto& info : held.segments) visit_segment(info, segment, state);
    const auto& config = held.config_metadata;
    const std::vector<uint64_t> roundup(config.roundup_power2_divisions.begin(), config.roundup_power2_divisions.end());
    const SnapscopeSettings all{config.last_allocator_settings.c_str(),
                                roundup.data(),
                                roundup.size(),
                                {static_cast<int64_t>(config.max_split_size), config.garbage_collection_threshold,
                                 config.pinned_num_register_threads, config.expandable_segments,
                                 config.release_lock_on_malloc, config.pinned_use_host_register,
                                 config.graph_capture_record_stream_reuse}};
    settings(state, &all);
  });
}

// The processor's ticks now, and the device that is current.
SNAPSCOPE_API uint64_t snapscope_ticks() { return static_cast<uint64_t>(c10::getApproximateTime()); }
SNAPSCOPE_API int32_t snapscope_current_device() { return c10::cuda::current_device(); }

using Clock = std::function<time_t(c10::approx_time_t)>;

// A clock that knows the ticks so far; the caller ends it by `snapscope_drop_clock`.
SNAPSCOPE_API const void* snapscope_clock() { return new Clock(clock_of_recording().makeConverter()); }

// Ticks in microseconds since 1970.
SNAPSCOPE_API int64_t snapscope_time_us(const void* clock, uint64_t ticks) {
  return (*static_cast<const Clock*>(clock))(ticks) / 1000;
}

SNAPSCOPE_API void snapscope_drop_clock(const void* clock) { delete static_cast<const Clock*>(clock); }

// Where memory ran out last; false if it never did.
SNAPSCOPE_API bool snapscope_out_of_memory(SnapscopePlace* place) {
  std::lock_guard<std::mutex> lock(exhaustion_mutex);
  if (!exhaustion.has_value()) return false;
  *place = snapscope::words(*exhaustion);
  return true;
}
