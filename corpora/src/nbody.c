// Five bodies under gravity, integrated with velocity first and position after (symplectic Euler). Distances
// in astronomical units, time in years, a mass in multiples of the first body's; the planets are rounded to
// what the test needs and start on circular orbits in different planes.
#include <stdint.h>

enum { kBodies = 5 };

typedef struct {
  double position[3];
  double velocity[3];
  double mass;
} Body;

static const double kGravity = 39.478417604357434;  // 4 pi^2

static const Body kStart[kBodies] = {
    {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, 1.0},
    {{5.2, 0.0, 0.1}, {0.0, 2.755, 0.0}, 0.000955},
    {{0.0, 9.55, -0.4}, {-2.033, 0.0, 0.02}, 0.000286},
    {{-19.2, 0.0, 0.25}, {0.0, -1.434, 0.0}, 0.0000437},
    {{0.0, -30.1, 0.7}, {1.145, 0.0, -0.01}, 0.0000515},
};

static Body bodies[kBodies];

static void reset(void) {
  for (int i = 0; i < kBodies; ++i) bodies[i] = kStart[i];
}

static double squared_distance(const Body* a, const Body* b) {
  double sum = 0.0;
  for (int k = 0; k < 3; ++k) {
    double d = a->position[k] - b->position[k];
    sum += d * d;
  }
  return sum;
}

static void attract(Body* a, Body* b, double years) {
  double r2 = squared_distance(a, b);
  double strength = kGravity * years / (r2 * __builtin_sqrt(r2));
  for (int k = 0; k < 3; ++k) {
    double pull = (b->position[k] - a->position[k]) * strength;
    a->velocity[k] += pull * b->mass;
    b->velocity[k] -= pull * a->mass;
  }
}

static __attribute__((noinline)) void step(double years) {
  for (int i = 0; i < kBodies; ++i) {
    for (int j = i + 1; j < kBodies; ++j) attract(&bodies[i], &bodies[j], years);
  }
  for (int i = 0; i < kBodies; ++i) {
    for (int k = 0; k < 3; ++k) bodies[i].position[k] += bodies[i].velocity[k] * years;
  }
}

static __attribute__((noinline)) double energy(void) {
  double sum = 0.0;
  for (int i = 0; i < kBodies; ++i) {
    const Body* body = &bodies[i];
    double speed2 = 0.0;
    for (int k = 0; k < 3; ++k) speed2 += body->velocity[k] * body->velocity[k];
    sum += 0.5 * body->mass * speed2;
    for (int j = i + 1; j < kBodies; ++j) {
      double distance = __builtin_sqrt(squared_distance(body, &bodies[j]));
      sum -= kGravity * body->mass * bodies[j].mass / distance;
    }
  }
  return sum;
}

// Starts over, advances by steps of a hundredth of a year and returns the energy of the system, which every
// coordinate takes part in.
double nbody(int32_t steps) {
  reset();
  for (int32_t i = 0; i < steps; ++i) step(0.01);
  return energy();
}

// A hash of the bits of all coordinates as nbody() left them.
uint64_t positions(void) {
  uint64_t hash = 0;
  for (int i = 0; i < kBodies; ++i) {
    for (int k = 0; k < 3; ++k) {
      union {
        double value;
        uint64_t bits;
      } coordinate = {bodies[i].position[k]};
      hash = (hash ^ coordinate.bits) * 0x100000001b3;
    }
  }
  return hash;
}
