// What the tests of source lines trap in. Line numbers are in lines_test.cc.
namespace stats {

[[gnu::always_inline]] static inline int divide(int sum, int count) {
  return sum / count;
}

[[gnu::always_inline]] static inline int average(int sum, int count) {
  int mean = divide(sum, count);
  return mean + 1;
}

[[gnu::noinline]] int summarize(int sum, int count) {
  return average(sum, count) * 3;
}

}  // namespace stats

extern "C" {

[[clang::export_name("report")]] int report(int sum, int count) {
  return stats::summarize(sum, count) ^ 5;
}

[[clang::export_name("descend")]] int descend(int depth) {
  if (depth == 0) __builtin_trap();
  return descend(depth - 1) + 1;
}
}
