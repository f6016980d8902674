// wago_benchmark: Google Benchmark entries for whatever catalogs are named.
#include "harness/benchmark_main.h"

int main(int argc, char** argv) {
  return wago::harness::benchmark_main(argc, argv, {}, {});
}
