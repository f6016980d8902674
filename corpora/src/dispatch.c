// A stack machine for bytecode, each instruction of which is called through a table of functions: indirect
// calls whose target changes every time.
#include <stdint.h>

enum { kStack = 16, kVariables = 3, kMaxCount = 1 << 20 };

typedef struct {
  uint32_t next;  // instruction to be executed next
  uint32_t depth;
  uint32_t running;
  uint32_t executed;
  uint32_t stack[kStack];
  uint32_t variables[kVariables];
} Machine;

enum Operation { Push, Get, Set, Add, Multiply, Modulo, Xor, Less, Jump, JumpIf, JumpUnless, Halt };
enum Variable { Limit, I, Sum };

typedef struct {
  uint32_t operation;
  uint32_t operand;
} Instruction;

static const Instruction kProgram[] = {
    /*  0 */ {Get, I},          // while (i < limit)
    /*  1 */ {Get, Limit},      //
    /*  2 */ {Less, 0},         //
    /*  3 */ {JumpUnless, 25},  //
    /*  4 */ {Get, Sum},        //   sum = sum * 31 + i
    /*  5 */ {Push, 31},        //
    /*  6 */ {Multiply, 0},     //
    /*  7 */ {Get, I},          //
    /*  8 */ {Add, 0},          //
    /*  9 */ {Set, Sum},        //
    /* 10 */ {Get, Sum},        //   if (sum % 7 == 0)
    /* 11 */ {Push, 7},         //
    /* 12 */ {Modulo, 0},       //
    /* 13 */ {JumpIf, 20},      //
    /* 14 */ {Get, Sum},        //     sum = sum ^ i * i
    /* 15 */ {Get, I},          //
    /* 16 */ {Get, I},          //
    /* 17 */ {Multiply, 0},     //
    /* 18 */ {Xor, 0},          //
    /* 19 */ {Set, Sum},        //
    /* 20 */ {Get, I},          //   i = i + 1
    /* 21 */ {Push, 1},         //
    /* 22 */ {Add, 0},          //
    /* 23 */ {Set, I},          //
    /* 24 */ {Jump, 0},         //
    /* 25 */ {Halt, 0},         //
};

static void push(Machine* machine, uint32_t value) {
  machine->stack[machine->depth++ % kStack] = value;
}
static uint32_t pop(Machine* machine) {
  return machine->stack[--machine->depth % kStack];
}

static void do_push(Machine* machine, uint32_t value) {
  push(machine, value);
}
static void do_get(Machine* machine, uint32_t variable) {
  push(machine, machine->variables[variable]);
}
static void do_set(Machine* machine, uint32_t variable) {
  machine->variables[variable] = pop(machine);
}

static void do_add(Machine* machine, uint32_t unused) {
  (void)unused;
  uint32_t right = pop(machine);
  push(machine, pop(machine) + right);
}

static void do_multiply(Machine* machine, uint32_t unused) {
  (void)unused;
  uint32_t right = pop(machine);
  push(machine, pop(machine) * right);
}

static void do_modulo(Machine* machine, uint32_t unused) {
  (void)unused;
  uint32_t right = pop(machine);
  push(machine, pop(machine) % right);
}

static void do_xor(Machine* machine, uint32_t unused) {
  (void)unused;
  uint32_t right = pop(machine);
  push(machine, pop(machine) ^ right);
}

static void do_less(Machine* machine, uint32_t unused) {
  (void)unused;
  uint32_t right = pop(machine);
  push(machine, pop(machine) < right);
}

static void do_jump(Machine* machine, uint32_t target) {
  machine->next = target;
}

static void do_jump_if(Machine* machine, uint32_t target) {
  if (pop(machine)) machine->next = target;
}

static void do_jump_unless(Machine* machine, uint32_t target) {
  if (!pop(machine)) machine->next = target;
}

static void do_halt(Machine* machine, uint32_t unused) {
  (void)unused;
  machine->running = 0;
}

typedef void (*Handler)(Machine*, uint32_t);

static const Handler kHandlers[] = {
    [Push] = do_push,
    [Get] = do_get,
    [Set] = do_set,
    [Add] = do_add,
    [Multiply] = do_multiply,
    [Modulo] = do_modulo,
    [Xor] = do_xor,
    [Less] = do_less,
    [Jump] = do_jump,
    [JumpIf] = do_jump_if,
    [JumpUnless] = do_jump_unless,
    [Halt] = do_halt,
};

// Runs the program with the limit `count`. Returns its sum times 2^32, plus how many instructions it took.
uint64_t dispatch(int32_t count) {
  if (count < 0 || count > kMaxCount) return 0;
  Machine machine = {.running = 1, .variables = {[Limit] = (uint32_t)count}};
  while (machine.running) {
    Instruction instruction = kProgram[machine.next++];
    kHandlers[instruction.operation](&machine, instruction.operand);
    ++machine.executed;
  }
  return (uint64_t)machine.variables[Sum] << 32 | machine.executed;
}
