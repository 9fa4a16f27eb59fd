/* XML documents into columns: handlers on the expat that Python itself carries, reached through its capsule.

   Two passes. `xml_room` says how much memory the columns can need and which documents this file does not read: those
   that declare entities (a long chain of them overflows expat's stack) and those in other encodings than expat's own of
   one or a few bytes. `xml_read` parses the others, one parser each. A document that expat refuses, that nests too
   deeply, or that refers to an entity which nobody declared, is taken back as if it had not been there, and marked: it
   is read again in Python, which knows what to do and what to say. `xml_arrange` then puts children and text nodes into
   the order in which an index looks for them. The result is that of collection/events.py and collection/arrange.py. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void *parser;

/* The capsule's struct as far as it is used; newer Pythons append members. */
struct capsule {
    const char *magic;
    int size, major, minor, micro;
    const char *(*error_string)(int);
    int (*error_code)(parser);
    unsigned long (*error_column)(parser);
    unsigned long (*error_line)(parser);
    int (*parse)(parser, const char *, int, int);
    parser (*create)(const char *, const void *, const char *);
    void (*release)(parser);
    void (*on_text)(parser, void (*)(void *, const char *, int));
    void (*on_comment)(parser, void (*)(void *, const char *));
    void (*on_default)(parser, void (*)(void *, const char *, int));
    void (*on_element)(parser, void (*)(void *, const char *, const char **), void (*)(void *, const char *));
    void (*on_namespace)(void);
    void (*on_instruction)(parser, void (*)(void *, const char *, const char *));
    void (*on_encoding)(void);
    void (*set_data)(parser, void *);
};

enum { PIECE = 1 << 20, NO_TAG = -1 };

/* What a document may be: read here, or left to Python. */
enum { READ = 0, LEFT = 1 };

struct columns {
    /* elements, in document order */
    int64_t elements;
    int32_t *tag, *start, *end, *parent;
    int16_t *depth;
    /* text nodes, in document order */
    int64_t nodes;
    int32_t *node_parent, *node_start, *node_end, *node_solid;
    /* the documents' texts in UTF-8, one after the other */
    int64_t bytes;
    char *text;
    /* names of tags, each closed by a zero byte; where each begins; a table of codes by the names' hashes */
    int64_t tags, most_tags, name_bytes, most_name_bytes, slots;
    char *names;
    int32_t *name_start, *table, *slot_of_tag;
    /* where each document's elements, nodes and bytes begin, and the end of the last */
    int64_t *element_bounds, *node_bounds, *byte_bounds;
    int64_t most_depth;
};

struct state {
    struct columns *c;
    int64_t first_element, level, node_from;
    int64_t points;       /* code points of the document so far */
    int32_t *open;        /* the elements that are open, by level */
    int left, solid;
};

/* -- names ----------------------------------------------------------------------------------------------------- */

static int64_t slot_of(const struct columns *c, const char *name, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3u;
    int64_t slot = (int64_t)((hash ^ hash >> 32) & (uint64_t)(c->slots - 1));
    for (int32_t code; (code = c->table[slot]) != NO_TAG; slot = (slot + 1) & (c->slots - 1))
        if (!strcmp(c->names + c->name_start[code], name))
            break;
    return slot;
}

/* The code of a tag's name, new ones numbered as they come; NO_TAG where there is no room for it. */
static int32_t code_of(struct columns *c, const char *name)
{
    size_t length = strlen(name);
    int64_t slot = slot_of(c, name, length);
    if (c->table[slot] != NO_TAG)
        return c->table[slot];
    if (c->tags == c->most_tags || c->name_bytes + (int64_t)length + 1 > c->most_name_bytes)
        return NO_TAG;
    memcpy(c->names + c->name_bytes, name, length + 1);
    c->name_start[c->tags] = (int32_t)c->name_bytes;
    c->name_bytes += (int64_t)length + 1;
    c->slot_of_tag[c->tags] = (int32_t)slot;
    return c->table[slot] = (int32_t)c->tags++;
}

/* Forget the names that came last: in the reverse order of their coming, no other's place depends on them. */
static void forget(struct columns *c, int64_t tags)
{
    while (c->tags > tags) {
        c->tags--;
        c->table[c->slot_of_tag[c->tags]] = NO_TAG;
        c->name_bytes = c->name_start[c->tags];
    }
}

/* -- handlers -------------------------------------------------------------------------------------------------- */

static void cut(struct state *s)
{
    struct columns *c = s->c;
    if (s->points == s->node_from)
        return;
    int64_t node = c->nodes++;
    c->node_parent[node] = s->open[s->level - 1];
    c->node_start[node] = (int32_t)s->node_from;
    c->node_end[node] = (int32_t)s->points;
    c->node_solid[node] = s->solid;
    s->node_from = s->points;
    s->solid = 0;
}

static void on_start(void *data, const char *name, const char **attributes)
{
    struct state *s = data;
    struct columns *c = s->c;
    (void)attributes;
    if (s->left)
        return;
    int32_t code = s->level < c->most_depth ? code_of(c, name) : NO_TAG;
    if (code == NO_TAG) {
        s->left = 1;
        return;
    }
    cut(s);
    int64_t element = c->elements++;
    c->tag[element] = code;
    c->start[element] = (int32_t)s->points;
    c->parent[element] = s->level ? s->open[s->level - 1] : -1;
    s->open[s->level++] = (int32_t)(element - s->first_element);
    c->depth[element] = (int16_t)s->level;
}

static void on_end(void *data, const char *name)
{
    struct state *s = data;
    (void)name;
    if (s->left)
        return;
    cut(s);
    s->c->end[s->first_element + s->open[--s->level]] = (int32_t)s->points;
}

static void on_text(void *data, const char *text, int length)
{
    struct state *s = data;
    struct columns *c = s->c;
    if (s->left)
        return;
    char *to = c->text + c->bytes;
    int64_t points = 0;
    uint8_t most = 0;
    for (int i = 0; i < length; i++) {
        to[i] = text[i];
        points += (int8_t)text[i] >= -64; /* all but the bytes that continue a character */
        most = (uint8_t)text[i] > most ? (uint8_t)text[i] : most;
    }
    c->bytes += length;
    s->points += points;
    s->solid |= most > ' ';
}

static void on_comment(void *data, const char *text)
{
    struct state *s = data;
    (void)text;
    if (!s->left)
        cut(s);
}

static void on_instruction(void *data, const char *target, const char *text)
{
    (void)target;
    on_comment(data, text);
}

/* Called for whatever has no handler: in the text of an element that is a CDATA section's mark, or an entity that
   nobody declared. */
static void on_default(void *data, const char *text, int length)
{
    struct state *s = data;
    if (length && text[0] == '&')
        s->left = 1;
}

/* -- documents ------------------------------------------------------------------------------------------------- */

static int parsed(const struct capsule *expat, struct state *s, const char *data, int64_t size)
{
    parser p = expat->create(0, 0, 0);
    if (!p)
        return 0;
    expat->set_data(p, s);
    expat->on_element(p, on_start, on_end);
    expat->on_text(p, on_text);
    expat->on_comment(p, on_comment);
    expat->on_instruction(p, on_instruction);
    expat->on_default(p, on_default);
    int fine = 1;
    while (fine && !s->left) { /* in pieces: expat cannot be told to stop, and what it nests takes memory */
        int some = size < PIECE ? (int)size : PIECE;
        fine = expat->parse(p, data, some, some == size);
        data += some;
        size -= some;
        if (!size)
            break;
    }
    expat->release(p);
    return fine && !s->left;
}

/* Read the documents that are not left to Python; mark those that turn out to be. Returns 0 where memory is short. */
int64_t xml_read(const struct capsule *expat, const char *const *data, const int64_t *size, int64_t documents,
                 struct columns *c, uint8_t *left)
{
    struct state s = {.c = c, .open = malloc(sizeof(int32_t) * (size_t)(c->most_depth + 1))};
    if (!s.open)
        return 0;
    memset(c->table, 0xff, sizeof(int32_t) * (size_t)c->slots);
    c->element_bounds[0] = c->node_bounds[0] = c->byte_bounds[0] = 0;
    for (int64_t i = 0; i < documents; i++) {
        int64_t elements = c->elements, nodes = c->nodes, bytes = c->bytes, tags = c->tags;
        s.first_element = elements;
        s.level = s.node_from = s.points = s.left = s.solid = 0;
        if (left[i] == READ && !parsed(expat, &s, data[i], size[i])) {
            left[i] = LEFT;
            c->elements = elements;
            c->nodes = nodes;
            c->bytes = bytes;
            forget(c, tags);
        }
        c->element_bounds[i + 1] = c->elements;
        c->node_bounds[i + 1] = c->nodes;
        c->byte_bounds[i + 1] = c->bytes;
    }
    free(s.open);
    return 1;
}

/* -- before ---------------------------------------------------------------------------------------------------- */

/* Whether a document declares an entity, or looks as if it did. */
static int has_entities(const char *data, int64_t size)
{
    const char *end = data + size;
    for (const char *at = data + 1; end - at > 6 && (at = memchr(at, '!', (size_t)(end - at) - 6)); at++)
        if (at[-1] == '<' && !memcmp(at + 1, "ENTITY", 6))
            return 1;
    return 0;
}

static const char *after(const char *at, const char *end, const char *word)
{
    size_t length = strlen(word);
    for (; end - at >= (int64_t)length; at++)
        if (!memcmp(at, word, length))
            return at + length;
    return 0;
}

static int is_name(const char *at, int64_t size, const char *name)
{
    int64_t length = (int64_t)strlen(name);
    if (size <= length)
        return 0;
    for (int64_t i = 0; i < length; i++)
        if ((at[i] | ('A' <= at[i] && at[i] <= 'Z' ? 0x20 : 0)) != name[i])
            return 0;
    return at[length] == '"' || at[length] == '\'';
}

enum { OTHER, UTF8, LATIN };

/* The encoding that a document declares, if it is one that expat reads by itself. */
static int encoding_of(const char *data, int64_t size)
{
    if (size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3)) {
        data += 3;
        size -= 3;
    }
    if (size < 5 || memcmp(data, "<?xml", 5))
        return size >= 2 && data[0] && data[1] && (uint8_t)data[0] < 0xfe ? UTF8 : OTHER; /* not UTF-16 */
    const char *end = memchr(data, '>', (size_t)size);
    const char *at = end ? after(data, end, "encoding") : 0;
    if (!at)
        return end ? UTF8 : OTHER;
    while (at < end && *at != '"' && *at != '\'')
        at++;
    at++;
    if (is_name(at, end - at, "utf-8") || is_name(at, end - at, "us-ascii"))
        return UTF8;
    return is_name(at, end - at, "iso-8859-1") ? LATIN : OTHER;
}

/* How many tags, comments and instructions documents can have at most, and how many bytes of text; documents that are
   not read here are marked. */
void xml_room(const char *const *data, const int64_t *size, int64_t documents, uint8_t *left, int64_t *marks,
              int64_t *bytes)
{
    *marks = *bytes = 0;
    for (int64_t i = 0; i < documents; i++) {
        int encoding = left[i] == READ ? encoding_of(data[i], size[i]) : OTHER;
        if (encoding == OTHER || has_entities(data[i], size[i])) {
            left[i] = LEFT;
            continue;
        }
        int64_t some = 0;
        for (int64_t k = 0; k < size[i]; k++)
            some += data[i][k] == '<';
        *marks += some;
        *bytes += size[i] * (encoding == LATIN ? 2 : 1);
    }
}

/* -- afterwards ------------------------------------------------------------------------------------------------ */

struct arranged {
    int32_t *n, *child, *first_child, *first_node, *node_start, *node_end, *node_solid;
};

/* Children of each element by tag and place, text nodes by parent; `rank` says the order of the tags' names, which
   become their codes. Returns 0 where memory is short. Every step is one pass: elements sorted by tag, by counting, are
   handed to their parents in that order. */
int64_t xml_arrange(struct columns *c, int64_t documents, const int32_t *rank, struct arranged *a)
{
    int64_t size = c->elements, tags = c->tags;
    int64_t *place = calloc((size_t)tags + 1, sizeof *place);
    int32_t *order = malloc(sizeof *order * (size_t)(size + 1));
    int32_t *next = calloc((size_t)size + 1, sizeof *next);
    int32_t *last = malloc(sizeof *last * (size_t)(size + 1)), *count = malloc(sizeof *count * (size_t)(size + 1));
    int fine = place && order && next && last && count;
    if (fine) {
        for (int64_t e = 0; e < size; e++) {
            c->tag[e] = rank[c->tag[e]];
            place[c->tag[e] + 1]++;
            last[e] = NO_TAG;
        }
        for (int64_t t = 0; t < tags; t++)
            place[t + 1] += place[t];
        for (int64_t e = 0; e < size; e++)
            order[place[c->tag[e]]++] = (int32_t)e;
        for (int64_t d = 0; d < documents; d++) {
            int64_t first = c->element_bounds[d], end = c->element_bounds[d + 1];
            for (int64_t e = first; e < end; e++)
                if (c->parent[e] >= 0)
                    next[first + c->parent[e]]++;
            int32_t running = 1; /* the root is a child of nobody, and stands first */
            for (int64_t e = first; e < end; e++) {
                int32_t children = next[e];
                a->first_child[e] = next[e] = running;
                running += children;
            }
            if (first < end) {
                a->child[first] = 0;
                a->n[first] = 1;
            }
            for (int64_t e = first; e < end; e++)
                count[e] = (int32_t)first; /* for the next loop: where the element's document begins */
        }
        for (int64_t i = 0; i < size; i++) {
            int32_t e = order[i], first = count[e];
            if (c->parent[e] < 0)
                continue;
            int64_t p = first + c->parent[e];
            a->child[first + next[p]++] = e - first;
            a->n[e] = last[p] == c->tag[e] ? a->n[first + a->child[first + next[p] - 2]] + 1 : 1;
            last[p] = c->tag[e];
        }
        memset(next, 0, sizeof *next * (size_t)size);
        for (int64_t d = 0; d < documents; d++) {
            int64_t first = c->element_bounds[d], end = c->element_bounds[d + 1];
            int64_t low = c->node_bounds[d], high = c->node_bounds[d + 1];
            for (int64_t k = low; k < high; k++)
                next[first + c->node_parent[k]]++;
            int32_t running = 0;
            for (int64_t e = first; e < end; e++) {
                int32_t nodes = next[e];
                a->first_node[e] = next[e] = running;
                running += nodes;
                count[e] = 0;
            }
            for (int64_t k = low; k < high; k++) {
                int64_t p = first + c->node_parent[k], to = low + next[p]++;
                a->node_start[to] = c->node_start[k];
                a->node_end[to] = c->node_end[k];
                a->node_solid[to] = count[p] += c->node_solid[k];
            }
        }
    }
    free(place);
    free(order);
    free(next);
    free(last);
    free(count);
    return fine;
}
