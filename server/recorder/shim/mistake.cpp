// What only mistakes need of PyTorch.
#include "shim.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDACachingAllocator.h>

// `tensor.backward(retain_graph=True)`
SNAPSCOPE_API char* snapscope_backward_retaining(at::Tensor* tensor) {
  return snapscope::guarded([&] { tensor->backward({}, /*retain_graph=*/true); });
}

// `torch.cuda.empty_cache()`
SNAPSCOPE_API char* snapscope_empty_cache() {
  return snapscope::guarded([] { c10::cuda::CUDACachingAllocator::emptyCache(); });
}
