#include "base/abilities.h"

namespace wago::base {

bool samples(Backend backend) {
  return backend == Backend::Pprof || backend == Backend::Guest || backend == Backend::Perf ||
         backend == Backend::Samply;
}

}  // namespace wago::base
