// The allocator's counters, and words about devices and places.
#include "shim.h"

#include <ATen/Context.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

namespace allocator = c10::cuda::CUDACachingAllocator;

// Of ATen/cuda/CUDAContext.h, which needs the headers of more CUDA libraries than this file does.
namespace at::cuda {
cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device);
}

struct SnapscopeStatistics {
  int64_t live;
  int64_t allocated_peak;
  int64_t reserved;
  int64_t reserved_peak;
  int64_t retries;
};

SNAPSCOPE_API void snapscope_free(void* memory) { free(memory); }

// The place of the backward node that began last.
SNAPSCOPE_API void snapscope_backward_place(SnapscopePlace* out) { *out = snapscope::words(snapscope::last_backward_place()); }

// The place of the calling thread.
SNAPSCOPE_API void snapscope_place(SnapscopePlace* out) { *out = snapscope::words(snapscope::place()); }

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
