// A singly linked list whose nodes are scattered in memory: built, reversed, thinned out, sorted by merging
// and walked. Nearly every load depends on the one before.
#include <stddef.h>
#include <stdint.h>

enum { kMaxNodes = 1 << 14 };

typedef struct Node {
  struct Node* next;
  uint32_t value;
} Node;

static Node nodes[kMaxNodes];

// Consecutive nodes lie far apart: the multiplier is odd, so that every place is used once.
static __attribute__((noinline)) Node* build(uint32_t count) {
  Node* head = NULL;
  for (uint32_t i = 0; i < count; ++i) {
    Node* node = &nodes[i * 2654435761u % kMaxNodes];
    node->value = (i * 1103515245 + 12345) >> 8;
    node->next = head;
    head = node;
  }
  return head;
}

static __attribute__((noinline)) Node* reverse(Node* list) {
  Node* reversed = NULL;
  while (list) {
    Node* next = list->next;
    list->next = reversed;
    reversed = list;
    list = next;
  }
  return reversed;
}

static __attribute__((noinline)) Node* remove_multiples_of_five(Node* list) {
  Node** link = &list;
  while (*link) {
    if ((*link)->value % 5 == 0) {
      *link = (*link)->next;
    } else {
      link = &(*link)->next;
    }
  }
  return list;
}

static __attribute__((noinline)) Node* merge(Node* a, Node* b) {
  Node* merged = NULL;
  Node** end = &merged;
  while (a && b) {
    Node** smaller = a->value <= b->value ? &a : &b;
    *end = *smaller;
    *smaller = (*smaller)->next;
    end = &(*end)->next;
  }
  *end = a ? a : b;
  return merged;
}

static Node* sort(Node* list) {
  if (!list || !list->next) return list;
  Node *middle = list, *end = list->next;
  while (end && end->next) {
    middle = middle->next;
    end = end->next->next;
  }
  Node* second = middle->next;
  middle->next = NULL;
  return merge(sort(list), sort(second));
}

// How many nodes are left at the end, times 2^32, plus a hash of their values in order; 0 if that is wrong.
uint64_t list(int32_t count) {
  if (count < 1 || count > kMaxNodes) return 0;
  Node* all = sort(remove_multiples_of_five(reverse(build((uint32_t)count))));
  uint32_t left = 0, hash = 0, last = 0;
  for (Node* node = all; node; node = node->next) {
    if (node->value < last) return 0;
    last = node->value;
    hash = (hash ^ node->value) * 16777619;
    ++left;
  }
  return (uint64_t)left << 32 | hash;
}
