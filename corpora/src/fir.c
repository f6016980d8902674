// A finite impulse response filter in single precision: a square wave goes through a low pass of 31 taps.
#include <stdint.h>

enum { kTaps = 31, kMaxSamples = 1 << 14 };

static float taps[kTaps];
static float input[kMaxSamples + kTaps];  // preceded by silence
static float output[kMaxSamples];

// A triangle that sums up to 1: the square of kMiddle steps.
static void design(void) {
  enum { kMiddle = (kTaps + 1) / 2 };
  for (int i = 0; i < kTaps; ++i) {
    int height = i < kMiddle ? i + 1 : kTaps - i;
    taps[i] = (float)height / (float)(kMiddle * kMiddle);
  }
}

static __attribute__((noinline)) void generate(int count) {
  for (int i = 0; i < kTaps; ++i) input[i] = 0.0f;
  for (int i = 0; i < count; ++i) input[kTaps + i] = i / 50 % 2 ? -0.75f : 0.8125f;
}

static __attribute__((noinline)) void filter(int count) {
  for (int i = 0; i < count; ++i) {
    float sum = 0.0f;
    for (int k = 0; k < kTaps; ++k) sum += taps[k] * input[i + kTaps - k];
    output[i] = sum;
  }
}

// The sum of the squares of the filtered samples.
float filtered_energy(int32_t count) {
  if (count < 1 || count > kMaxSamples) return -1.0f;
  design();
  generate(count);
  filter(count);
  float energy = 0.0f;
  for (int i = 0; i < count; ++i) energy += output[i] * output[i];
  return energy;
}

// A hash of the bits of the first `count` samples that filtered_energy() left.
uint32_t samples(int32_t count) {
  if (count < 1 || count > kMaxSamples) return 0;
  uint32_t hash = 0;
  for (int i = 0; i < count; ++i) {
    union {
      float value;
      uint32_t bits;
    } sample = {output[i]};
    hash = ((hash << 5 | hash >> 27) ^ sample.bits) * 16777619;
  }
  return hash;
}
