// What a job sets and asks of PyTorch: the kernels of attention, autocast, the allocator's counters, and the device.
#include "shim.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
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
SNAPSCOPE_API void snapscope_backward_place(SnapscopePlace* out) {
  *out = snapscope::words(snapscope::last_backward_place());
}

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

// Each backend is allowed or not; PyTorch picks from what is left, in its own order.
SNAPSCOPE_API void snapscope_attention_backends(int flash, int efficient, int cudnn, int math) {
  at::Context& context = at::globalContext();
  context.setSDPUseFlash(flash != 0);
  context.setSDPUseMemEfficient(efficient != 0);
  context.setSDPUseCuDNN(cudnn != 0);
  context.setSDPUseMath(math != 0);
}

// `half` is 0 for no autocast, 1 for float16, 2 for bfloat16. Pairs with `snapscope_autocast_leave`.
SNAPSCOPE_API void snapscope_autocast_enter(int half) {
  at::autocast::increment_nesting();
  at::autocast::set_autocast_enabled(at::kCUDA, half != 0);
  if (half != 0) at::autocast::set_autocast_dtype(at::kCUDA, half == 1 ? at::kHalf : at::kBFloat16);
  at::autocast::set_autocast_cache_enabled(true);
}

SNAPSCOPE_API void snapscope_autocast_leave() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCUDA, false);
}
