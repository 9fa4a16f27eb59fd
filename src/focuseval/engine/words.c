/* Texts into words: where each begins and ends, and a number for every distinct one; words by their terms.

   A word is a maximal run of letters, marks and numbers that no tag divides; scripts without blanks are cut out of their
   run and become overlapping pairs of characters, each with its marks. The result is that of collection/chunks/words.py. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What a code point is: collection/chunks/characters.py makes the table. */
enum { OTHER = 0, LETTER = 1, MARK = 2, DENSE = 3, DENSE_MARK = 4 };
enum { NO_MEMORY = -1, FEWEST_SLOTS = 1 << 16, POINTS = 0x110000 };

struct words {
    const uint8_t *text;
    /* every word: its first and past its last code point, counted from its document's first, and its number */
    int64_t count;
    int32_t *start, *end, *number;
    /* every distinct word: where it ends among the bytes of all, and its hash */
    int64_t distinct, bytes;
    uint8_t *names;
    int32_t *ends;
    uint32_t *hashes;
    /* a table of numbers + 1, by hash */
    int64_t slots;
    int32_t *table;
};

static uint32_t hash_of(const uint8_t *at, int64_t size)
{
    uint64_t hash = (uint64_t)size * 0x9E3779B97F4A7C15u;
    for (uint64_t part; size > 0; at += 8, size -= 8) {
        part = 0;
        memcpy(&part, at, size < 8 ? (size_t)size : 8);
        hash = (hash ^ part) * 0xD6E8FEB86659FD93u;
        hash ^= hash >> 32;
    }
    return (uint32_t)(hash ^ hash >> 29);
}

/* Twice as many slots as there were; 0 where there is no memory for them. */
static int more_slots(struct words *w)
{
    int64_t slots = w->slots ? 2 * w->slots : FEWEST_SLOTS;
    int32_t *table = calloc((size_t)slots, sizeof *table);
    if (!table)
        return 0;
    for (int64_t i = 0; i < w->distinct; i++) {
        int64_t slot = w->hashes[i] & (slots - 1);
        while (table[slot])
            slot = (slot + 1) & (slots - 1);
        table[slot] = (int32_t)(i + 1);
    }
    free(w->table);
    w->table = table;
    w->slots = slots;
    return 1;
}

static int32_t number_of(struct words *w, const uint8_t *at, int64_t size)
{
    uint32_t hash = hash_of(at, size);
    int64_t slot = hash & (w->slots - 1);
    for (int32_t code; (code = w->table[slot]); slot = (slot + 1) & (w->slots - 1)) {
        int32_t from = code > 1 ? w->ends[code - 2] : 0;
        if (w->hashes[code - 1] == hash && w->ends[code - 1] - from == size && !memcmp(w->names + from, at, (size_t)size))
            return code - 1;
    }
    memcpy(w->names + w->bytes, at, (size_t)size);
    w->bytes += size;
    w->ends[w->distinct] = (int32_t)w->bytes;
    w->hashes[w->distinct] = hash;
    w->table[slot] = (int32_t)++w->distinct;
    return (int32_t)w->distinct - 1;
}

struct place {
    int64_t byte;
    int32_t point;
};

static int word(struct words *w, struct place from, struct place to)
{
    if (2 * w->distinct >= w->slots && !more_slots(w))
        return 0;
    w->start[w->count] = from.point;
    w->end[w->count] = to.point;
    w->number[w->count++] = number_of(w, w->text + from.byte, to.byte - from.byte);
    return 1;
}

/* A run as far as it has been read: its kind, where its last word and, of a dense one, its last character begin. */
struct run {
    int kind;
    struct place first, last;
};

static int close_run(struct words *w, struct run *run, struct place here)
{
    int kind = run->kind;
    run->kind = OTHER;
    return kind == OTHER || word(w, run->first, here);
}

/* The code point here, of so many bytes; a character that is cut off is a byte of no kind. */
static inline uint32_t code_point(const uint8_t *at, int64_t left, int *size)
{
    if (left < 2 + (at[0] >= 0xE0) + (at[0] >= 0xF0))
        return POINTS;
    if (at[0] < 0xE0)
        return *size = 2, (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
    if (at[0] < 0xF0)
        return *size = 3, (at[0] & 0xFu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
    return *size = 4, (at[0] & 7u) << 18 | (at[1] & 0x3Fu) << 12 | (at[2] & 0x3Fu) << 6 | (at[3] & 0x3Fu);
}

/* One character that belongs to a word; a mark belongs to the character before it. */
static int character(struct words *w, struct run *run, int kind, struct place here)
{
    if (run->kind != OTHER && (kind == MARK || kind == DENSE_MARK))
        return 1;
    kind = kind == DENSE || kind == DENSE_MARK ? DENSE : LETTER;
    if (run->kind == LETTER && kind == LETTER)
        return 1;
    if (run->kind == DENSE && kind == DENSE) {
        if (run->last.byte > run->first.byte) {
            if (!word(w, run->first, here))
                return 0;
            run->first = run->last;
        }
        run->last = here;
        return 1;
    }
    if (!close_run(w, run, here))
        return 0;
    run->kind = kind;
    run->first = run->last = here;
    return 1;
}

/* The words of documents, of which `bounds` says where each begins in the text and the last one ends. `breaks` has an
   entry for every code point and one more for every document's end: whether a tag stands there; text that has more of
   them, which is no UTF-8, is refused. `word_bounds` gets where each document's words begin, and the end of the last. */
int64_t words_split(struct words *w, const int64_t *bounds, int64_t documents, const uint8_t *breaks,
                    int64_t entries, const uint8_t *kinds, int64_t *word_bounds)
{
    int sound = more_slots(w);
    const uint8_t *no_more = breaks + entries;
    for (int64_t d = 0; sound && d < documents; d++) {
        struct place here = {bounds[d], 0};
        struct run run = {OTHER, here, here};
        word_bounds[d] = w->count;
        while (here.byte < bounds[d + 1]) {
            const uint8_t *at = w->text + here.byte;
            int size = 1;
            uint32_t point = at[0] < 0x80 ? at[0] : code_point(at, bounds[d + 1] - here.byte, &size);
            int kind = point < POINTS ? kinds[point] : OTHER;
            if (breaks == no_more) {
                sound = 0;
                break;
            }
            if (run.kind != OTHER && (*breaks || kind == OTHER))
                sound &= close_run(w, &run, here);
            if (kind != OTHER)
                sound &= character(w, &run, kind, here);
            breaks++;
            here.byte += size;
            here.point++;
        }
        sound = sound && close_run(w, &run, here);
        breaks++;
    }
    word_bounds[documents] = w->count;
    free(w->table);
    w->table = 0;
    return sound ? w->count : NO_MEMORY;
}

/* For every kept word the deepest element around it; for every element its first kept word and past its last. Elements
   stand in document order, words too; `start` is where a word begins. Numbers of words count from the block's first, of
   elements from the block's first, parents from their document's. 0 where elements do not contain each other so. */
int64_t words_place(const int32_t *start, const int64_t *kept_bounds, const int64_t *element_bounds, int64_t documents,
                 const int32_t *from, const int32_t *to, const int32_t *parent, int32_t *deepest, int32_t *first,
                 int32_t *last)
{
    for (int64_t d = 0; d < documents; d++) {
        int64_t root = element_bounds[d], stop = element_bounds[d + 1], begun = root;
        for (int64_t k = kept_bounds[d]; k < kept_bounds[d + 1]; k++) {
            for (; begun < stop && from[begun] <= start[k]; begun++)
                first[begun] = last[begun] = (int32_t)k;
            int64_t e = begun - 1;
            for (; e > root && to[e] <= start[k]; e = root + parent[e])
                if (parent[e] < 0 || root + parent[e] >= e)
                    return 0;
            if (e < root || to[e] <= start[k])
                return 0;
            deepest[k] = (int32_t)e;
            last[e] = (int32_t)(k + 1);
        }
        for (; begun < stop; begun++)
            first[begun] = last[begun] = (int32_t)kept_bounds[d + 1];
        for (int64_t e = stop - 1; e > root; e--)
            if (parent[e] < 0 || root + parent[e] >= e)
                return 0;
            else if (last[e] > last[root + parent[e]] && last[e] > first[e])
                last[root + parent[e]] = last[e];
    }
    return 1;
}

/* Put kept words where the lists of their terms go on: `next` says where, `term` which. */
void words_post(const int32_t *term, int64_t count, int32_t base, int64_t *next, int32_t *posted)
{
    for (int64_t k = 0; k < count; k++)
        posted[next[term[k]]++] = base + (int32_t)k;
}
