/* What costs most in large files, compiled: lines into columns, strings into keys, strings into codes.

   Built when the package is installed, where a compiler is found. Nothing depends on it: native.py does the calling, and
   whoever calls that has a way of its own to the same result. */

#include <stdint.h>
#include <string.h>

#ifndef SOURCE
#define SOURCE 0
#endif

enum { REFUSED = -1, WORD = 8, MOST_DIGITS = 18, RANK_DIGITS = 9 };

static const uint64_t ONES = 0x0101010101010101u, HIGH = 0x8080808080808080u;
static const uint64_t ODD = 0x9E3779B97F4A7C15u, ODDER = 0xD6E8FEB86659FD93u; /* as in keys.py */
static const double TENS[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                              1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

struct column {
    int64_t kind;     /* '-' skipped, 't' text, 'b' block, 'i' whole number, 'r' rank, 'f' real number */
    void *values;     /* room for a number a row, or for the bytes of all strings and a word to spare */
    int32_t *offsets; /* of strings: where each begins and the last one ends; the first is 0 */
    int32_t *ends;    /* of a block's strings: the row after the last that has it */
    int64_t count;    /* strings so far */
    const uint8_t *above; /* of a block: the string before, in the text */
    int64_t length;
};

/* Text ends with a newline, so that a field ends before the text does and nobody has to look for the end. */

static inline uint64_t word_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, WORD);
    return word;
}

/* How many bytes of a word stand before the first blank or control character. */
static inline int visible(uint64_t word)
{
    uint64_t others = (word - ONES * 0x21) & ~word & HIGH;
    return others ? __builtin_ctzll(others) >> 3 : WORD;
}

/* Where a field ends; `out`, unless it is null, gets its bytes and up to a word of what follows. */
static inline const uint8_t *field(const uint8_t *at, const uint8_t *end, uint8_t *out)
{
    while (end - at >= WORD) {
        uint64_t word = word_at(at);
        int some = visible(word);
        if (out) {
            memcpy(out, &word, WORD);
            out += WORD;
        }
        at += some;
        if (some < WORD)
            return at;
    }
    for (; *at > 0x20; at++)
        if (out)
            *out++ = *at;
    return at;
}

static inline const uint8_t *text(struct column *column, const uint8_t *at, const uint8_t *end)
{
    int32_t *offset = column->offsets + column->count++;
    const uint8_t *stop = field(at, end, (uint8_t *)column->values + offset[0]);
    offset[1] = offset[0] + (int32_t)(stop - at);
    return stop;
}

/* Whether a field has the bytes of one above it. */
static inline int same(const uint8_t *at, const uint8_t *end, const uint8_t *above, int64_t length)
{
    if (length < WORD && end - at >= WORD)
        return !((word_at(at) ^ word_at(above)) << 8 * (WORD - length)) && at[length] <= 0x20;
    while (length && *at == *above)
        at++, above++, length--;
    return !length && *at <= 0x20;
}

/* A column that repeats from line to line: a new string only where it is not the one above. */
static inline const uint8_t *block(struct column *column, const uint8_t *at, const uint8_t *end, int64_t row)
{
    const uint8_t *stop = at + column->length;
    if (!column->length || !same(at, end, column->above, column->length)) {
        stop = text(column, at, end);
        column->above = at;
        column->length = stop - at;
    }
    column->ends[column->count - 1] = (int32_t)(row + 1);
    return stop;
}

static inline const uint8_t *digits(const uint8_t *at, uint64_t *number)
{
    for (uint64_t digit; (digit = (uint64_t)*at - '0') < 10; at++)
        *number = *number * 10 + digit;
    return at;
}

/* Where a whole number ends; null where none stands here, or one with too many digits. */
static inline const uint8_t *whole(const uint8_t *at, int most, int64_t *value)
{
    uint64_t number = 0;
    int negative = *at == '-';
    const uint8_t *first = at + negative, *stop = digits(first, &number);
    *value = (int64_t)(negative ? 0 - number : number);
    return stop == first || stop - first > most ? 0 : stop;
}

/* Where a decimal number ends; null where none stands here, or one whose digits a double cannot hold. Digits and power
   of ten are both exact, so that their quotient is the nearest double. */
static inline const uint8_t *real(const uint8_t *at, double *value)
{
    uint64_t number = 0;
    int negative = *at == '-';
    const uint8_t *first = at + negative, *stop = digits(first, &number);
    int64_t count = stop - first, decimals = 0;
    if (*stop == '.') {
        const uint8_t *point = stop;
        stop = digits(point + 1, &number);
        decimals = stop - point - 1;
    }
    count += decimals;
    if (!count || count > MOST_DIGITS || number > (uint64_t)1 << 53)
        return 0;
    *value = (negative ? -(double)number : (double)number) / TENS[decimals];
    return stop;
}

/* Where this row's field ends; null where it is not what its column holds. */
static inline const uint8_t *cell(struct column *column, const uint8_t *at, const uint8_t *end, int64_t row)
{
    int64_t rank;
    switch (column->kind) {
    case 't':
        return text(column, at, end);
    case 'b':
        return block(column, at, end, row);
    case 'f':
        return real(at, (double *)column->values + row);
    case 'i':
        return whole(at, MOST_DIGITS, (int64_t *)column->values + row);
    case 'r':
        at = whole(at, RANK_DIGITS, &rank);
        ((int32_t *)column->values)[row] = (int32_t)rank;
        return at;
    default:
        return field(at, end, 0);
    }
}

/* The first digits of the SHA-256 of all C files, so that a library of another version is not used. */
uint64_t source(void)
{
    return SOURCE;
}

/* How many lines there are at most, so that the caller knows how much room to make. */
int64_t lines(const uint8_t *text, int64_t size)
{
    int64_t count = 1;
    while (size) {
        uint8_t some = 0, few = size < 255 ? (uint8_t)size : 255; /* sums of bytes are added many at a time */
        for (int i = 0; i < few; i++)
            some += text[i] == '\n';
        count += some;
        text += few;
        size -= few;
    }
    return count;
}

/* What stands between two fields, or before the end of a line: any number of blanks, of every kind that Python knows. */
static inline const uint8_t *past_blanks(const uint8_t *at)
{
    while (*at <= ' ' && (*at == ' ' || (*at >= '\t' && *at <= '\r' && *at != '\n')))
        at++;
    return at;
}

/* Lines into columns; the number of rows, at most those there is room for, or REFUSED.

   There are as many fields in every line as there are columns, blanks between them and maybe around them, and plain
   numbers; blank lines are passed over. What is not so is for the caller, who knows more. Whether strings are UTF-8 is
   for the caller to see, too. */
int64_t split(const uint8_t *at, int64_t size, struct column *columns, int64_t width, int64_t most)
{
    const uint8_t *end = at + size;
    int64_t row = 0;
    if (!size || end[-1] != '\n')
        return REFUSED;
    for (; at < end; at++) {
        at = past_blanks(at);
        if (*at == '\n')
            continue;
        if (row == most)
            return REFUSED;
        for (int64_t i = 0; i < width; i++) {
            const uint8_t *first = at, *stop = cell(columns + i, at, end, row);
            if (!stop || stop == first)
                return REFUSED;
            at = past_blanks(stop);
            if (i + 1 < width ? at == stop || *at == '\n' : *at != '\n')
                return REFUSED;
        }
        row++;
    }
    return row;
}

/* The numbers, from 1, of the lines that are not blank. */
void filled(const uint8_t *at, int64_t size, int32_t *numbers)
{
    const uint8_t *end = at + size;
    for (int32_t line = 1; at < end; at++, line++) {
        if (*(at = past_blanks(at)) != '\n')
            *numbers++ = line;
        at = memchr(at, '\n', (size_t)(end - at));
    }
}

/* The key of every string, as keys.py makes it. */
void hash64(const uint8_t *text, const int32_t *offsets, int64_t rows, uint64_t *keys)
{
    const uint8_t *end = text + offsets[rows];
    for (int64_t row = 0; row < rows; row++) {
        const uint8_t *at = text + offsets[row];
        int64_t left = offsets[row + 1] - offsets[row];
        uint64_t key = (uint64_t)left * ODD;
        for (; left > 0; at += WORD, left -= WORD) {
            uint64_t word = 0;
            if (end - at >= WORD)
                memcpy(&word, at, WORD);
            else
                memcpy(&word, at, (size_t)left);
            if (left < WORD)
                word &= ~(uint64_t)0 >> 8 * (WORD - left);
            key = (key ^ word) * ODDER;
            key ^= key >> 32;
        }
        key *= ODD;
        keys[row] = key ^ key >> 32;
    }
}

/* Every key joined with its group, as keys.py does it. */
void joint(const uint64_t *keys, const int32_t *groups, int64_t rows, uint64_t *joined)
{
    for (int64_t row = 0; row < rows; row++) {
        uint64_t key = (keys[row] ^ (uint64_t)groups[row]) * ODD;
        key = (key ^ key >> 32) * ODDER;
        joined[row] = key ^ key >> 32;
    }
}

/* A code for every string, in order of first appearance; `first` gets the row of each code. The number of codes.
   `table` is empty, all 0, and has more slots than there are strings, a power of two. */
int64_t encode(const uint8_t *text, const int32_t *offsets, const uint64_t *keys, int64_t rows, int32_t *table,
               int64_t slots, int32_t *codes, int64_t *first)
{
    int64_t count = 0;
    for (int64_t row = 0; row < rows; row++) {
        const uint8_t *string = text + offsets[row];
        int32_t length = offsets[row + 1] - offsets[row];
        uint64_t slot = keys[row] & (uint64_t)(slots - 1);
        for (; table[slot]; slot = (slot + 1) & (uint64_t)(slots - 1)) {
            int64_t other = first[table[slot] - 1];
            if (keys[other] == keys[row] && offsets[other + 1] - offsets[other] == length &&
                !memcmp(text + offsets[other], string, (size_t)length))
                break;
        }
        if (!table[slot]) {
            first[count] = row;
            table[slot] = (int32_t)++count;
        }
        codes[row] = table[slot] - 1;
    }
    return count;
}

/* A table of open addressing for `lookup_find`: `marks` is empty, all 0, and has more slots than there are keys, a power
   of two; it gets a mark of the key at a slot, from 1 to 128, and `table` its row: of equal keys the first. */
void lookup_fill(const uint64_t *keys, int64_t rows, int32_t *table, uint8_t *marks, int64_t slots)
{
    for (int64_t row = 0; row < rows; row++) {
        uint64_t slot = (keys[row] * ODD >> 20) & (uint64_t)(slots - 1);
        for (; marks[slot] && keys[table[slot]] != keys[row]; slot = (slot + 1) & (uint64_t)(slots - 1))
            ;
        if (!marks[slot]) {
            marks[slot] = (uint8_t)(1 + (keys[row] & 127));
            table[slot] = (int32_t)row;
        }
    }
}

/* The row of every key asked for, -1 where there is none. Most are asked for in vain: a byte tells. */
void lookup_find(const uint64_t *keys, const int32_t *table, const uint8_t *marks, int64_t slots, int64_t many,
                 const uint64_t *asked, int32_t *found)
{
    for (int64_t number = 0; number < many; number++) {
        uint64_t key = asked[number], slot = (key * ODD >> 20) & (uint64_t)(slots - 1);
        uint8_t mark = (uint8_t)(1 + (key & 127));
        for (; marks[slot] && (marks[slot] != mark || keys[table[slot]] != key); slot = (slot + 1) & (uint64_t)(slots - 1))
            ;
        found[number] = marks[slot] ? table[slot] : -1;
    }
}
