// A hash table from strings to numbers with open addressing: words are made, counted, looked up, removed.
#include <stdint.h>

enum { kSlots = 1 << 13, kPool = 1 << 16, kMaxWord = 24, kMaxWords = kSlots / 2 };

enum SlotState { Empty, Full, Removed };

typedef struct {
  uint32_t hash;
  uint32_t count;
  uint32_t text;  // offset in pool
  uint16_t length;
  uint16_t state;
} Slot;

typedef struct {
  uint8_t text[kMaxWord];
  uint32_t length;
} Word;

static Slot slots[kSlots];
static uint8_t pool[kPool];
static uint32_t pool_used;

// Word number n: syllables for its digits to base 9, so that words share long prefixes.
static __attribute__((noinline)) Word make_word(uint32_t n) {
  static const char kSyllables[][4] = {"wa", "go", "pro", "fi", "le", "cap", "tu", "re", "diff"};
  Word word = {.length = 0};
  do {
    const char* syllable = kSyllables[n % 9];
    for (int i = 0; i < 4 && syllable[i]; ++i) word.text[word.length++] = (uint8_t)syllable[i];
    n /= 9;
  } while (n && word.length + 4 <= kMaxWord);
  return word;
}

static uint32_t hash_of(const Word* word) {
  uint32_t hash = 2166136261;
  for (uint32_t i = 0; i < word->length; ++i) hash = (hash ^ word->text[i]) * 16777619;
  return hash ^ hash >> 15;
}

static int holds(const Slot* slot, const Word* word, uint32_t hash) {
  if (slot->state != Full || slot->hash != hash || slot->length != word->length) return 0;
  for (uint32_t i = 0; i < word->length; ++i) {
    if (pool[slot->text + i] != word->text[i]) return 0;
  }
  return 1;
}

// The slot of a word, or 0 where there is none.
static __attribute__((noinline)) Slot* find(const Word* word) {
  uint32_t hash = hash_of(word);
  for (uint32_t at = hash % kSlots; slots[at].state != Empty; at = (at + 1) % kSlots) {
    if (holds(&slots[at], word, hash)) return &slots[at];
  }
  return 0;
}

static __attribute__((noinline)) void insert(const Word* word) {
  uint32_t hash = hash_of(word);
  uint32_t at = hash % kSlots;
  while (slots[at].state == Full) at = (at + 1) % kSlots;
  slots[at] = (Slot){hash, 1, pool_used, (uint16_t)word->length, Full};
  for (uint32_t i = 0; i < word->length; ++i) pool[pool_used++] = word->text[i];
}

static void count_word(const Word* word) {
  Slot* slot = find(word);
  if (slot) {
    ++slot->count;
  } else {
    insert(word);
  }
}

static void clear(void) {
  for (uint32_t i = 0; i < kSlots; ++i) slots[i].state = Empty;
  pool_used = 0;
}

// Counts 2 * words draws from `words` words, removes every third word and looks all of them up. How many were
// found times 2^32, plus a hash over them and their counts.
uint64_t hash_table(int32_t words) {
  if (words < 1 || words > kMaxWords) return 0;
  uint32_t n = (uint32_t)words;
  clear();
  uint32_t state = 1;
  for (uint32_t i = 0; i < 2 * n; ++i) {
    state = state * 1664525 + 1013904223;
    Word word = make_word((state >> 8) % n);
    count_word(&word);
  }
  for (uint32_t i = 0; i < n; i += 3) {
    Word word = make_word(i);
    Slot* slot = find(&word);
    if (slot) slot->state = Removed;
  }
  uint32_t found = 0, hash = 0;
  for (uint32_t i = 0; i < n; ++i) {
    Word word = make_word(i);
    const Slot* slot = find(&word);
    if (!slot) continue;
    ++found;
    hash = (hash ^ slot->hash) * 16777619 + slot->count;
  }
  return (uint64_t)found << 32 | hash;
}
