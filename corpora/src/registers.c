// A register machine whose 32-bit instruction words are taken apart with shifts and dispatched by one switch.
// Its program sorts its memory by insertion and hashes what it finds there.
#include <stdint.h>

enum { kMaxCount = 256, kProgramLength = 23 };

enum Operation { Load, Store, Constant, Move, Add, Subtract, Multiply, BranchLess, BranchEqual, Jump, Halt };
enum Register { Zero, One, Factor, Count, I, J, Key, Other, Hash, kRegisters = 16 };

static uint32_t program[kProgramLength];
static uint32_t memory[kMaxCount + 1];  // element k is at k + 1
static uint32_t registers[kRegisters];

// operation:8 a:4 b:4 immediate:16
static uint32_t word(enum Operation operation, uint32_t a, uint32_t b, uint32_t immediate) {
  return (uint32_t)operation << 24 | a << 20 | b << 16 | immediate;
}

static void assemble(void) {
  uint32_t* at = program;
  /*  0 */ *at++ = word(Constant, I, 0, 1);
  /*  1 */ *at++ = word(BranchEqual, I, Count, 14);
  /*  2 */ *at++ = word(Load, Key, I, 1);
  /*  3 */ *at++ = word(Move, J, I, 0);
  /*  4 */ *at++ = word(BranchEqual, J, Zero, 11);
  /*  5 */ *at++ = word(Load, Other, J, 0);
  /*  6 */ *at++ = word(BranchLess, Key, Other, 8);
  /*  7 */ *at++ = word(Jump, 0, 0, 11);
  /*  8 */ *at++ = word(Store, Other, J, 1);
  /*  9 */ *at++ = word(Subtract, J, One, 0);
  /* 10 */ *at++ = word(Jump, 0, 0, 4);
  /* 11 */ *at++ = word(Store, Key, J, 1);
  /* 12 */ *at++ = word(Add, I, One, 0);
  /* 13 */ *at++ = word(Jump, 0, 0, 1);
  /* 14 */ *at++ = word(Constant, I, 0, 0);
  /* 15 */ *at++ = word(Constant, Hash, 0, 0);
  /* 16 */ *at++ = word(BranchEqual, I, Count, 22);
  /* 17 */ *at++ = word(Load, Other, I, 1);
  /* 18 */ *at++ = word(Multiply, Hash, Factor, 0);
  /* 19 */ *at++ = word(Add, Hash, Other, 0);
  /* 20 */ *at++ = word(Add, I, One, 0);
  /* 21 */ *at++ = word(Jump, 0, 0, 16);
  /* 22 */ *at++ = word(Halt, 0, 0, 0);
}

// Until it halts; how many instructions that took.
static __attribute__((noinline)) uint32_t execute(void) {
  uint32_t* r = registers;
  uint32_t executed = 0;
  for (uint32_t pc = 0;; ++executed) {
    uint32_t instruction = program[pc++];
    uint32_t a = instruction >> 20 & 15, b = instruction >> 16 & 15, immediate = instruction & 0xffff;
    switch ((enum Operation)(instruction >> 24)) {
      case Load:
        r[a] = memory[r[b] + immediate];
        break;
      case Store:
        memory[r[b] + immediate] = r[a];
        break;
      case Constant:
        r[a] = immediate;
        break;
      case Move:
        r[a] = r[b];
        break;
      case Add:
        r[a] += r[b];
        break;
      case Subtract:
        r[a] -= r[b];
        break;
      case Multiply:
        r[a] *= r[b];
        break;
      case BranchLess:
        pc = r[a] < r[b] ? immediate : pc;
        break;
      case BranchEqual:
        pc = r[a] == r[b] ? immediate : pc;
        break;
      case Jump:
        pc = immediate;
        break;
      case Halt:
        return executed;
    }
  }
}

// Sorts `count` pseudo-random numbers. Their hash in order times 2^32, plus how many instructions were
// executed; 0 if they are not sorted.
uint64_t sort_registers(int32_t count) {
  if (count < 1 || count > kMaxCount) return 0;
  assemble();
  uint32_t state = 1;
  for (int i = 1; i <= count; ++i) {
    state = state * 1664525 + 1013904223;
    memory[i] = state;
  }
  for (int i = 0; i < kRegisters; ++i) registers[i] = 0;
  registers[One] = 1;
  registers[Factor] = 31;
  registers[Count] = (uint32_t)count;
  uint32_t executed = execute();
  for (int i = 2; i <= count; ++i) {
    if (memory[i - 1] > memory[i]) return 0;
  }
  return (uint64_t)registers[Hash] << 32 | executed;
}
