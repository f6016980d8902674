// A binary tree is grown by recursion and summed up by another; every frame of the recursion keeps an array
// of its own in memory that its children read and the parent reads back. Calls, stack frames in linear
// memory, and pointers.
#include <stddef.h>
#include <stdint.h>

enum { kMaxDepth = 14, kPath = 16 };

typedef struct Tree {
  struct Tree* left;
  struct Tree* right;
  uint32_t value;
} Tree;

static Tree arena[1 << (kMaxDepth + 1)];
static int used;

// A tree of 2^(depth+1) - 1 nodes. Each frame's path is its parent's shifted by one, with the node's number
// in front; a node's value is a hash of its path.
static __attribute__((noinline)) Tree* grow(int depth, uint32_t number, const uint32_t* above) {
  uint32_t path[kPath];
  path[0] = number;
  for (int i = 1; i < kPath; ++i) path[i] = above[i - 1];
  uint32_t hash = 0;
  for (int i = 0; i < kPath; ++i) hash = (hash ^ path[i]) * 16777619;
  Tree* tree = &arena[used++];
  tree->value = hash;
  tree->left = depth ? grow(depth - 1, 2 * number, path) : NULL;
  tree->right = depth ? grow(depth - 1, 2 * number + 1, path) : NULL;
  return tree;
}

// Each child reports its sum and its height in the parent's frame.
static __attribute__((noinline)) void measure(const Tree* tree, uint32_t report[2]) {
  uint32_t left[2] = {0, 0}, right[2] = {0, 0};
  if (tree->left) measure(tree->left, left);
  if (tree->right) measure(tree->right, right);
  report[0] = tree->value + 3 * left[0] + 5 * right[0];
  report[1] = 1 + (left[1] > right[1] ? left[1] : right[1]);
}

// The height of the tree times 2^32, plus a weighted sum of its values.
uint64_t call_tree(int32_t depth) {
  if (depth < 0 || depth > kMaxDepth) return 0;
  static const uint32_t kNoPath[kPath];
  used = 0;
  uint32_t report[2];
  measure(grow(depth, 1, kNoPath), report);
  return (uint64_t)report[1] << 32 | report[0];
}
