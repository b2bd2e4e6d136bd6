// What the recorder needs of libtorch and tch does not offer.
//
// Every function that can fail returns null, or a message that the caller frees with `snapscope_free`.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

#define SNAPSCOPE_API extern "C" __attribute__((visibility("default")))

// What the operations inside a function and its node in the graph belong to: see place.cpp.
#define SNAPSCOPE_OPERATION(name) \
  RECORD_FUNCTION(name, c10::ArrayRef<const c10::IValue>{}, static_cast<int64_t>(at::sequence_number::peek()))

// Tensors of tch.
struct SnapscopeList {
  at::Tensor* const* tensors;
  size_t count;
};

// A place in words that the caller frees.
struct SnapscopePlace {
  char* module;
  int phase;
  char* operation;
};

namespace snapscope {

inline std::vector<at::Tensor> vec(SnapscopeList list) {
  std::vector<at::Tensor> out;
  out.reserve(list.count);
  for (size_t index = 0; index < list.count; ++index) out.push_back(*list.tensors[index]);
  return out;
}

inline char* copy(const std::string& text) { return strdup(text.c_str()); }

// Runs `work`; the message of what it throws is returned.
template <typename Work>
char* guarded(Work work) {
  try {
    work();
    return nullptr;
  } catch (const c10::Error& error) {
    return copy(error.what_without_backtrace());
  } catch (const std::exception& error) {
    return copy(error.what());
  } catch (...) {
    return copy("an exception of an unknown kind");
  }
}

// Where a thread is, in words: module path, phase and operation.
struct Place {
  std::string module;
  int phase;
  std::string operation;
};

inline SnapscopePlace words(const Place& place) {
  return {copy(place.module), place.phase, copy(place.operation)};
}

// The place of the calling thread.
Place place();

// The place of the backward node that began last, on any thread.
Place last_backward_place();

// The stack of the calling thread, which is what the memory history keeps of it.
std::shared_ptr<c10::GatheredContext> current_stack();

// The number of a stack, or `kNoStack`.
constexpr uint32_t kNoStack = UINT32_MAX;
uint32_t stack_number(const std::shared_ptr<c10::GatheredContext>& stack);

}  // namespace snapscope
