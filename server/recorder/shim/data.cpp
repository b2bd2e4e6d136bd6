// How batches get to the device ahead of their use: pinned memory, and a stream beside the current one.
#include "shim.h"

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/cuda/CUDAStream.h>

using c10::cuda::CUDAStream;

// `torch.cuda.Stream()`; it is never destroyed, as PyTorch's streams are not.
SNAPSCOPE_API char* snapscope_stream_new(int device, CUDAStream** out) {
  return snapscope::guarded([&] {
    *out = new CUDAStream(c10::cuda::getStreamFromPool(false, static_cast<c10::DeviceIndex>(device)));
  });
}

// Makes a stream the current one; what was the current one is put in its place.
SNAPSCOPE_API char* snapscope_stream_swap(CUDAStream* stream) {
  return snapscope::guarded([&] {
    const CUDAStream before = c10::cuda::getCurrentCUDAStream(stream->device_index());
    c10::cuda::setCurrentCUDAStream(*stream);
    *stream = before;
  });
}

// `torch.cuda.current_stream().wait_stream(stream)`
SNAPSCOPE_API char* snapscope_stream_wait(const CUDAStream* stream) {
  return snapscope::guarded([&] {
    c10::Event event(c10::DeviceType::CUDA);
    event.record(stream->unwrap());
    event.block(c10::cuda::getCurrentCUDAStream(stream->device_index()).unwrap());
  });
}

// `tensor.record_stream(torch.cuda.current_stream())`
SNAPSCOPE_API char* snapscope_record_stream(at::Tensor* tensor) {
  return snapscope::guarded(
      [&] { tensor->record_stream(c10::cuda::getCurrentCUDAStream(tensor->get_device()).unwrap()); });
}

// `tensor.pin_memory()`
SNAPSCOPE_API char* snapscope_pin(const at::Tensor* tensor, at::Tensor** out) {
  return snapscope::guarded([&] { *out = new at::Tensor(tensor->pin_memory()); });
}
