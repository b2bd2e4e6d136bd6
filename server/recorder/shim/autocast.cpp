// Autocast of the calling thread.
#include "shim.h"

#include <ATen/autocast_mode.h>

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
