/* Texts into words: where each begins and ends, and a number for every distinct one; words by their terms.

   A word is a maximal run of letters, marks and numbers that no tag divides; scripts without blanks are cut out of their
   run and become overlapping pairs of characters, each with its marks. The result is that of collection/chunks/words.py. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What a code point is: collection/chunks/characters.py makes the table. */
enum { OTHER = 0, LETTER = 1, MARK = 2, DENSE = 3, DENSE_MARK = 4 };
enum { NO_MEMORY = -1, FEWEST_SLOTS = 1 << 16, POINTS = 0x110000, AHEAD = 12 };

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

/* For every element its first kept word and past its last. Elements stand in document order, words too; `start` is where
   a word begins. Numbers of words and elements count from the block's first, parents from their document's. 0 where
   elements do not contain each other so. */
int64_t words_place(const int32_t *start, const int64_t *kept_bounds, const int64_t *element_bounds, int64_t documents,
                    const int32_t *from, const int32_t *to, const int32_t *parent, int32_t *first, int32_t *last)
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

/* Where words begin and end in their documents, by their gaps and lengths; a gap's low bit is its sign. */
void words_spans(const int32_t *gap, const int32_t *length, const int64_t *bounds, int64_t documents, int32_t *start,
                 int32_t *end)
{
    for (int64_t d = 0; d < documents; d++)
        for (int64_t i = bounds[d], at = 0; i < bounds[d + 1]; i++) {
            at += gap[i] & 1 ? -(int64_t)(gap[i] >> 1) - 1 : gap[i] >> 1;
            start[i] = (int32_t)at;
            end[i] = (int32_t)(at += length[i]);
        }
}

/* For every kept word the first span around it and how many follow each other; `reach` is past the last word of a span
   and of all before it. */
void words_around(const int32_t *word, int64_t words, const int64_t *first, const int64_t *reach, int64_t spans,
                  int32_t *lowest, int32_t *around)
{
    int64_t low = 0, high = 0;
    for (int64_t k = 0; k < words; k++) {
        while (low < spans && reach[low] <= word[k])
            low++;
        while (high < spans && first[high] <= word[k])
            high++;
        lowest[k] = (int32_t)low;
        around[k] = (int32_t)(high > low ? high - low : 0);
    }
}

/* A unit that is an element: the unit around it, −1 for none, and how often it holds the term that is counted. */
struct unit {
    int32_t above, count;
};

/* For every element the unit at or nearest above it, −1 where there is none; units are the kept elements in their
   order. Elements follow their parents. */
int64_t words_near(const int32_t *parent, int64_t elements, const uint8_t *kept, int32_t *near, struct unit *units)
{
    int32_t unit = 0;
    for (int64_t e = 0; e < elements; e++) {
        int32_t up = parent[e] >= 0 && parent[e] < e ? near[parent[e]] : -1;
        if (kept[e])
            units[unit] = (struct unit){up, 0};
        near[e] = kept[e] ? unit++ : up;
    }
    return unit;
}

/* Count occurrences in the units around them; `at` are words, of which `element` has the deepest elements, or these.
   What is far apart in memory is asked for before it is needed. All counts are 0 again. */
int64_t words_tally(const int32_t *at, int64_t many, const int32_t *element, const int32_t *near, struct unit *units,
                    int32_t *own, int32_t *tf)
{
    int64_t found = 0;
    for (int64_t i = 0; i < many; i++) {
        if (element && i + 3 * AHEAD < many)
            __builtin_prefetch(element + at[i + 3 * AHEAD]);
        if (i + 2 * AHEAD < many)
            __builtin_prefetch(near + (element ? element[at[i + 2 * AHEAD]] : at[i + 2 * AHEAD]));
        if (i + AHEAD < many)
            __builtin_prefetch(units + near[element ? element[at[i + AHEAD]] : at[i + AHEAD]]);
        for (int32_t unit = near[element ? element[at[i]] : at[i]]; unit >= 0; unit = units[unit].above)
            if (!units[unit].count++)
                own[found++] = unit;
    }
    for (int64_t i = 0; i < found; i++) {
        tf[i] = units[own[i]].count;
        units[own[i]].count = 0;
    }
    return found;
}

/* Count occurrences of so many words in spans: `lowest` is the first span around a word, `around` how many follow each
   other; `last`, where spans nest, is past the last of their words, as `word` numbers them. */
int64_t words_tally_spans(const int32_t *at, int64_t many, int64_t size, int64_t words, const int32_t *lowest,
                          const int32_t *around, const int32_t *word, const int64_t *last, int32_t *count, int32_t *own,
                          int32_t *tf)
{
    int64_t found = 0;
    for (int64_t i = 0; i < many; i++) {
        int64_t end = at[i] + size <= words ? at[i] + size - 1 : words - 1;
        for (int32_t unit = lowest[end], stop = lowest[at[i]] + around[at[i]]; unit < stop; unit++)
            if ((!last || last[unit] > word[end]) && !count[unit]++)
                own[found++] = unit;
    }
    for (int64_t i = 0; i < found; i++) {
        tf[i] = count[own[i]];
        count[own[i]] = 0;
    }
    return found;
}

/* What a term gives in units that hold it, before its weight. */
void words_share(const int32_t *own, const int32_t *tf, int64_t many, const double *norm, double *share)
{
    for (int64_t i = 0; i < many; i++)
        share[i] = tf[i] / (tf[i] + norm[own[i]]);
}

/* Add what a term gives; `seen` notes units that hold a term (1) and a wanted one (2), `touched` lists the former. */
int64_t words_add(const int32_t *own, const double *share, int64_t many, double weight, int32_t wanted, double *total,
                  uint8_t *seen, int32_t *touched, int64_t found)
{
    uint8_t mark = wanted ? 3 : 1;
    for (int64_t i = 0; i < many; i++) {
        int32_t unit = own[i];
        total[unit] += weight * share[i];
        touched[found] = unit;
        found += !seen[unit];
        seen[unit] |= mark;
    }
    return found;
}

static const double WHOLE = 4503599627370496.0; /* from 2^52 on doubles are whole numbers */

/* The k-th largest of numbers, from 1; they change their places. */
static double largest(double *number, int64_t many, int64_t k)
{
    int64_t low = 0, high = many - 1, place = k - 1;
    while (low < high) {
        double pivot = number[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (number[i] > pivot)
                i++;
            while (number[j] < pivot)
                j--;
            if (i <= j) {
                double other = number[i];
                number[i++] = number[j];
                number[j--] = other;
            }
        }
        if (place <= j)
            high = j;
        else if (place >= i)
            low = i;
        else
            break;
    }
    return number[place];
}

/* The scores of touched units that hold a wanted term, rounded to nine decimals, where they are above 0: all, or those
   that are not less than the `most`-th, and maybe others. `mix` is the share of their documents' scores, where these are
   given. All sums are 0 again. */
int64_t words_rank(int32_t *touched, int64_t many, double *total, uint8_t *seen, double mix, const int32_t *document,
                   const double *documents, int64_t most, double *score, double *spare)
{
    int64_t found = 0, room = most ? 4 * most : many + 1;
    double least = 1;
    for (int64_t i = 0; i < many; i++) {
        int32_t unit = touched[i];
        double own = total[unit];
        if (documents)
            own = (1 - mix) * own + mix * documents[document[unit]];
        own *= 1e9;
        own = own < WHOLE ? (own + WHOLE) - WHOLE : own; /* the nearest whole number, the even one of two */
        touched[found] = unit;
        score[found] = own;
        found += (seen[unit] & 2) && own >= least;
        total[unit] = 0;
        seen[unit] = 0;
        if (found < room)
            continue;
        memcpy(spare, score, (size_t)found * sizeof *score);
        least = largest(spare, found, most);
        int64_t kept = 0;
        for (int64_t k = 0; k < found; k++) {
            touched[kept] = touched[k];
            score[kept] = score[k];
            kept += score[k] >= least;
        }
        found = kept;
        room = kept + 4 * most;
    }
    for (int64_t k = 0; k < found; k++)
        score[k] /= 1e9;
    return found;
}

/* Numbers in as few bytes as they need, seven bits in each, the low ones first; the last byte has no high bit. `bounds`,
   ascending, are places among the numbers, and `ends` gets where each of them begins among the bytes. */
int64_t words_pack(const uint32_t *number, int64_t many, const int64_t *bounds, int64_t parts, uint8_t *out, int64_t *ends)
{
    uint8_t *at = out;
    int64_t part = 0;
    for (int64_t i = 0; i < many; i++) {
        for (; part < parts && bounds[part] <= i; part++)
            ends[part] = at - out;
        uint32_t left = number[i];
        for (; left > 127; left >>= 7)
            *at++ = (uint8_t)(left | 128);
        *at++ = (uint8_t)left;
    }
    for (; part < parts; part++)
        ends[part] = at - out;
    return at - out;
}

/* The numbers of such bytes, at most so many; each with all before it, where sums are wanted. */
int64_t words_unpack(const uint8_t *at, int64_t size, int64_t most, int32_t sums, int32_t base, int32_t *number)
{
    const uint8_t *end = at + size;
    uint32_t before = (uint32_t)base;
    int64_t many = 0;
    while (at < end && many < most) {
        uint32_t found = *at & 127;
        for (int shift = 7; *at++ > 127 && at < end && shift < 32; shift += 7)
            found |= (uint32_t)(*at & 127) << shift;
        number[many++] = (int32_t)(found + before);
        before = sums ? found + before : before;
    }
    return many;
}

/* The parent of every element, by their depths in document order: the last one before it that is less deep by one. */
int64_t words_parents(const int16_t *depth, int64_t elements, int32_t *parent)
{
    int32_t last[1 << 15];
    last[0] = -1;
    for (int64_t e = 0; e < elements; e++) {
        if (depth[e] < 1 || (depth[e] > 1 && (!e || depth[e] > depth[e - 1] + 1)))
            return 0;
        parent[e] = depth[e] > 1 ? last[depth[e] - 1] : -1;
        last[depth[e]] = (int32_t)e;
    }
    return 1;
}

/* The deepest element around every kept word, by every element's first word and past its last. */
int64_t words_deepest(const int32_t *first, const int32_t *last, const int32_t *parent, int64_t elements, int64_t words,
                      int32_t *deepest)
{
    int64_t begun = 0;
    for (int64_t k = 0; k < words; k++) {
        while (begun < elements && first[begun] <= k)
            begun++;
        int64_t e = begun - 1;
        while (e >= 0 && last[e] <= k)
            e = parent[e];
        if (e < 0)
            return 0;
        deepest[k] = (int32_t)e;
    }
    return 1;
}
