// Quicksort of pseudo-random integers: the pivot is the median of three, short ranges are left to insertion
// sort.
#include <stdint.h>

enum { kMaxCount = 1 << 16, kShort = 12 };

static int32_t numbers[kMaxCount];

static __attribute__((noinline)) void fill(int count) {
  uint32_t state = 2463534242;
  for (int i = 0; i < count; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    numbers[i] = (int32_t)state;
  }
}

static void swap(int32_t* a, int32_t* b) {
  int32_t kept = *a;
  *a = *b;
  *b = kept;
}

static int32_t median(int32_t a, int32_t b, int32_t c) {
  if (a > b) swap(&a, &b);
  if (b > c) b = c;
  return a > b ? a : b;
}

static __attribute__((noinline)) void insertion_sort(int low, int high) {
  for (int i = low + 1; i <= high; ++i) {
    int32_t number = numbers[i];
    int place = i;
    for (; place > low && numbers[place - 1] > number; --place) numbers[place] = numbers[place - 1];
    numbers[place] = number;
  }
}

static void sort(int low, int high) {
  if (high - low < kShort) {
    insertion_sort(low, high);
    return;
  }
  int32_t pivot = median(numbers[low], numbers[low + (high - low) / 2], numbers[high]);
  int left = low, right = high;
  while (left <= right) {
    while (numbers[left] < pivot) ++left;
    while (numbers[right] > pivot) --right;
    if (left > right) break;
    swap(&numbers[left++], &numbers[right--]);
  }
  sort(low, right);
  sort(left, high);
}

// A hash of the sorted numbers; 0 if they are not sorted or there are more than kMaxCount.
uint64_t quicksort(int32_t count) {
  if (count < 1 || count > kMaxCount) return 0;
  fill(count);
  sort(0, count - 1);
  uint64_t hash = (uint32_t)numbers[0];
  for (int i = 1; i < count; ++i) {
    if (numbers[i - 1] > numbers[i]) return 0;
    hash = (hash ^ (uint32_t)numbers[i]) * 0x100000001b3;
  }
  return hash;
}
