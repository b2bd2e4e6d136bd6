// The buffers of FSDP2: shards, gathered parameters, and gradients to reduce.
#include "fsdp.h"
#include "shim.h"

#include <algorithm>
#include <numeric>

#include <ATen/record_function.h>
#include <c10/core/Event.h>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

using at::Tensor;

SNAPSCOPE_API const void* snapscope_enter(uint32_t module);
SNAPSCOPE_API void snapscope_leave(const void* before);

namespace snapscope::fsdp {

namespace {

c10::Device device() { return {c10::DeviceType::CUDA, c10::cuda::current_device()}; }

at::TensorOptions options(at::ScalarType type) { return at::TensorOptions().dtype(type).device(device()); }

// A tensor of these sizes on a storage that may have no memory yet.
Tensor tensor_on(const c10::Storage& storage, at::IntArrayRef sizes, at::ScalarType type) {
  Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(c10::DispatchKey::CUDA), c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
  return tensor;
}

std::vector<int64_t> with_rows(at::IntArrayRef sizes, int64_t rows) {
  std::vector<int64_t> out = sizes.vec();
  out[0] = rows;
  return out;
}

}  // namespace

Within::Within(uint32_t module) : before_(snapscope_enter(module)) {}
Within::~Within() { snapscope_leave(before_); }

void wait(const c10::cuda::CUDAStream& on, const c10::cuda::CUDAStream& other) {
  c10::Event event(c10::DeviceType::CUDA);
  event.record(other);
  event.block(on);
}

void Context::start() {
  if (std::exchange(started, true)) return;
  const auto high_priority = [] { return c10::cuda::getStreamFromPool(/*isHighPriority=*/true); };
  copy_in = high_priority();
  gather = high_priority();
  reduce = high_priority();
  for (Group* group : groups) {
    for (const auto& parameter : group->parameters_) {
      const Within within(parameter->module);
      parameter->pad();
    }
  }
}

void Context::let_gathering_wait() const {
  const auto current = c10::cuda::getCurrentCUDAStream();
  wait(*copy_in, current);
  wait(*gather, current);
}

Parameter::Parameter(at::IntArrayRef sizes, at::ScalarType type, uint32_t module, const Policy& policy)
    : module(module) {
  rows_ = (sizes[0] + policy.ranks - 1) / policy.ranks;
  row_ = c10::multiply_integers(sizes.slice(1));
  const int64_t rows = std::clamp(sizes[0] - policy.rank * rows_, int64_t{0}, rows_);
  shard = at::empty(with_rows(sizes, rows), options(type)).set_requires_grad(true);
  const at::ScalarType gathered = policy.parameter.value_or(type);
  const c10::Storage storage(c10::Storage::use_byte_size_t(), 0, at::DataPtr(nullptr, device()),
                             c10::cuda::CUDACachingAllocator::get(), /*resizable=*/true);
  whole = tensor_on(storage, sizes, gathered).set_requires_grad(true);
  // A handle of its own: what is written through it is no change of the parameter to autograd.
  gathered_ = tensor_on(storage, {policy.ranks, padded_elements()}, gathered);
}

void Parameter::pad() {
  padded_ = shard.detach();
  if (shard.size(0) == rows_) return;
  padded_ = at::zeros(with_rows(shard.sizes(), rows_), shard.options().requires_grad(false));
  const Tensor part = padded_.narrow(0, 0, shard.size(0));
  part.copy_(shard.detach());
  shard.set_data(part);
}

void Parameter::allocate() {
  c10::StorageImpl* storage = gathered_.storage().unsafeGetStorageImpl();
  const size_t bytes = static_cast<size_t>(gathered_.numel()) * gathered_.itemsize();
  storage->set_data_ptr_noswap(storage->allocator()->allocate(bytes));
  storage->set_nbytes(bytes);
}

void Parameter::free() {
  c10::StorageImpl* storage = gathered_.storage().unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(at::DataPtr(nullptr, storage->device()));
  storage->set_nbytes(0);
}

void Parameter::accumulate(const Tensor& reduced, int64_t offset) {
  // A padded rank without rows has no stride to speak of.
  Tensor part = reduced.as_strided(shard.sizes(), shard.strides(), offset);
  Tensor& gradient = shard.mutable_grad();
  if (gradient.defined()) {
    gradient.add_(part);
  } else {
    gradient = std::move(part);
  }
}

// What this rank contributes of each parameter, in one buffer where the number format changes.
std::vector<Tensor> Group::contributions() const {
  std::vector<Tensor> shards;
  std::vector<int64_t> sizes;
  for (const auto& parameter : parameters_) {
    shards.push_back(parameter->contribution());
    sizes.push_back(parameter->padded_elements());
  }
  const auto type = context_.policy.parameter;
  if (!type.has_value()) return shards;
  const Tensor flat = at::empty({std::accumulate(sizes.begin(), sizes.end(), int64_t{0})}, options(*type));
  std::vector<Tensor> cast = flat.split_with_sizes(sizes);
  at::_foreach_copy_(cast, shards);
  return cast;
}

// `foreach_all_gather`: the buffer has this rank's part, and room for those of the others.
void Group::unshard() {
  if (buffer_.defined() || unsharded_) return;
  RECORD_FUNCTION("FSDP::all_gather", c10::ArrayRef<const c10::IValue>{});
  const Within within(module_);
  c10::NoGradGuard no_grad;
  const c10::StreamGuard on_stream(context_.copy_in->unwrap());
  const std::vector<Tensor> parts = contributions();
  std::vector<int64_t> sizes;
  for (const Tensor& part : parts) sizes.push_back(part.numel());
  const int64_t elements = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  const auto& [rank, ranks] = std::pair(context_.policy.rank, context_.policy.ranks);
  buffer_ = at::empty({elements * ranks}, parts.front().options());
  at::_foreach_copy_(buffer_.narrow(0, elements * rank, elements).split_with_sizes(sizes), parts);
  wait(*context_.gather, *context_.copy_in);
}

// `wait_for_unshard`: in forward the buffer lives until the next group has its own, so that both streams stay busy.
void Group::wait_for_unshard() {
  if (!buffer_.defined()) return;
  RECORD_FUNCTION("FSDP::all_gather_copy_out", c10::ArrayRef<const c10::IValue>{});
  const Within within(module_);
  c10::NoGradGuard no_grad;
  // Python's name for it lives until the function returns.
  const Tensor previous = stage_ == Stage::kForward ? std::exchange(context_.last_gathered, Tensor()) : Tensor();
  wait(c10::cuda::getCurrentCUDAStream(), *context_.gather);
  std::vector<Tensor> out;
  std::vector<int64_t> sizes;
  for (const auto& parameter : parameters_) {
    const Within within_parameter(parameter->module);
    parameter->allocate();
    out.push_back(parameter->gathered());
    sizes.push_back(parameter->padded_elements());
  }
  at::split_with_sizes_copy_out(out, buffer_.view({context_.policy.ranks, -1}), sizes, 1);
  unsharded_ = true;
  context_.let_gathering_wait();
  if (stage_ == Stage::kForward) context_.last_gathered = buffer_;
  buffer_.reset();
}

void Group::reshard() {
  if (!unsharded_) return;
  for (const auto& parameter : parameters_) parameter->free();
  unsharded_ = false;
}

// `foreach_reduce`: gradients in, the shards' part of their means out.
void Group::reduce(const std::vector<Parameter*>& parameters, std::vector<Tensor>& gradients) {
  RECORD_FUNCTION("FSDP::post_backward_reduce", c10::ArrayRef<const c10::IValue>{});
  const auto& policy = context_.policy;
  const auto current = c10::cuda::getCurrentCUDAStream();
  wait(current, *context_.reduce);
  context_.last_reduced.reset();
  Tensor output;
  // Python's loop variable holds the last gradient until the function returns.
  const Tensor last = gradients.back();
  int64_t elements = 0;
  for (const Parameter* parameter : parameters) elements += parameter->padded_elements();
  const auto type = policy.reduced.value_or(last.scalar_type());
  Tensor input = at::empty({elements * policy.ranks}, options(type));
  Tensor chunks = input.view({policy.ranks, -1});
  at::_chunk_cat_out(chunks, gradients, 0, policy.ranks);
  while (!gradients.empty()) gradients.pop_back();
  wait(*context_.reduce, current);
  {
    const c10::StreamGuard on_stream(context_.reduce->unwrap());
    output = at::empty({elements}, options(type));
    output = output.to(parameters.front()->shard.scalar_type());
    int64_t offset = 0;
    for (Parameter* parameter : parameters) {
      parameter->accumulate(output, offset);
      offset += parameter->padded_elements();
    }
  }
  context_.last_reduced = std::move(input);
}

}  // namespace snapscope::fsdp
