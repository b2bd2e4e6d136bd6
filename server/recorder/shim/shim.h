// What the recorder needs of libtorch and tch does not offer.
//
// Every function that can fail returns null, or a message that the caller frees with `snapscope_free`.
#pragma once

#include <cstring>
#include <exception>
#include <string>

#include <c10/util/Exception.h>

#define SNAPSCOPE_API extern "C" __attribute__((visibility("default")))

namespace snapscope {

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

// The place of the calling thread.
Place place();

// The place of the backward node that began last, on any thread.
Place last_backward_place();

}  // namespace snapscope
