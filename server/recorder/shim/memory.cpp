// The memory history, the snapshot, the allocator's counters, and what happens when memory runs out.
#include "shim.h"

#include <cstdint>
#include <mutex>
#include <optional>

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <torch/csrc/cuda/memory_snapshot.h>

namespace allocator = c10::cuda::CUDACachingAllocator;

// Of ATen/cuda/CUDAContext.h, which needs the headers of more CUDA libraries than this file does.
namespace at::cuda {
cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device);
}

namespace snapscope {
void install_places();
}

namespace {

struct Exhaustion {
  snapscope::Place place;
  std::string snapshot;
};
std::mutex exhaustion_mutex;
std::optional<Exhaustion> exhaustion;

// Runs on the thread that asked for memory, before its exception: everything is still alive.
void on_out_of_memory(int64_t, size_t, size_t, size_t) {
  std::lock_guard<std::mutex> lock(exhaustion_mutex);
  std::string snapshot;
  try {
    snapshot = torch::cuda::_memory_snapshot_pickled();
  } catch (const std::exception&) {
    // The run then ends with the snapshot that is taken after it.
  }
  exhaustion = Exhaustion{snapscope::place(), std::move(snapshot)};
}

}  // namespace

struct SnapscopeBytes {
  char* data;
  size_t size;
};

struct SnapscopePlace {
  char* module;
  int phase;
  char* operation;
};

struct SnapscopeStatistics {
  int64_t live;
  int64_t allocated_peak;
  int64_t reserved;
  int64_t reserved_peak;
  int64_t retries;
};

namespace {

SnapscopeBytes bytes(const std::string& text) {
  char* data = static_cast<char*>(malloc(text.size() + 1));
  memcpy(data, text.data(), text.size());
  return {data, text.size()};
}

SnapscopePlace words(const snapscope::Place& place) {
  return {snapscope::copy(place.module), place.phase, snapscope::copy(place.operation)};
}

}  // namespace

SNAPSCOPE_API void snapscope_free(void* memory) { free(memory); }

// Starts CUDA and the memory history of every device, and learns from now on which place memory is asked for.
SNAPSCOPE_API char* snapscope_start_recording() {
  return snapscope::guarded([] {
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);  // the history is that of existing allocators only
    snapscope::install_places();
    allocator::attachOutOfMemoryObserver(on_out_of_memory);
    const std::optional<std::string> all("all");
    // A snapshot is no event of the training: those that are taken on the way would differ from run to run.
    torch::cuda::_record_memory_history(all, all, "python", SIZE_MAX, false, false, false, {"snapshot"});
  });
}

// The snapshot as a pickle.
SNAPSCOPE_API char* snapscope_snapshot(SnapscopeBytes* out) {
  return snapscope::guarded([&] { *out = bytes(torch::cuda::_memory_snapshot_pickled()); });
}

// Where memory ran out last and the snapshot of that moment; false if it never did.
SNAPSCOPE_API bool snapscope_out_of_memory(SnapscopePlace* place, SnapscopeBytes* snapshot) {
  std::lock_guard<std::mutex> lock(exhaustion_mutex);
  if (!exhaustion.has_value()) return false;
  *place = words(exhaustion->place);
  *snapshot = bytes(exhaustion->snapshot);
  return true;
}

// The place of the backward node that began last.
SNAPSCOPE_API void snapscope_backward_place(SnapscopePlace* out) { *out = words(snapscope::last_backward_place()); }

// The place of the calling thread.
SNAPSCOPE_API void snapscope_place(SnapscopePlace* out) { *out = words(snapscope::place()); }

// The allocator's own counters: bytes, and how often it freed its cache to try again.
SNAPSCOPE_API char* snapscope_statistics(int device, SnapscopeStatistics* out) {
  return snapscope::guarded([&] {
    const auto stats = allocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
    out->live = stats.requested_bytes[0].current;
    out->allocated_peak = stats.allocated_bytes[0].peak;
    out->reserved = stats.reserved_bytes[0].current;
    out->reserved_peak = stats.reserved_bytes[0].peak;
    out->retries = stats.num_alloc_retries;
  });
}

SNAPSCOPE_API char* snapscope_set_memory_fraction(int device, double fraction) {
  return snapscope::guarded([&] { allocator::setMemoryFraction(fraction, static_cast<c10::DeviceIndex>(device)); });
}

// Marks the beginning (`START`) or the end (`END`) of a span in the snapshot's annotations.
SNAPSCOPE_API void snapscope_annotate(const char* name, const char* stage) {
  allocator::recordAnnotation({{"name", name}, {"stage", stage}});
}

// Name and total memory of a device.
SNAPSCOPE_API char* snapscope_device(int device, char** name, uint64_t* memory) {
  return snapscope::guarded([&] {
    const cudaDeviceProp* properties = at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(device));
    *name = snapscope::copy(properties->name);
    *memory = properties->totalGlobalMem;
  });
}

SNAPSCOPE_API char* snapscope_synchronize() {
  return snapscope::guarded([] { c10::cuda::device_synchronize(); });
}

// `torch.backends.cuda.matmul.allow_tf32`; cuDNN has it on by default, as in Python.
SNAPSCOPE_API void snapscope_allow_tf32(bool allow) { at::globalContext().setAllowTF32CuBLAS(allow); }
