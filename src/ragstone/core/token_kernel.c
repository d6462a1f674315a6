/* Words and pieces of texts, and what answers share with gold answers: the functions of
   components/metrics/fast_tokens.py and token_overlap.py, compiled. Optional: `make kernel`.

   Texts are UTF-8, each followed by a zero byte. PADDING zero bytes follow the last text, so that
   eight bytes can be read from every place. The caller allocates all results, as large as their
   comments say; each function returns the number of bytes or tokens written, or -1 if memory is
   exhausted. Byte order is little-endian: the caller checks it. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum { BLANK = 32, WORD = 8, PADDING = 2 * WORD, BITS = 64 };

/* The digest of the source that was compiled: a library of another source is not used. */
EXPORT const char *kernel_source(void) { return SOURCE_DIGEST; }

/* ---- Folding: case, compatibility forms and signs, character by character ---- */

enum { LETTERS_ABOVE = 0x80, ESCAPE = 27 };

/* An entry of the table of characters: number of bytes | flag | up to three bytes above them. */
enum { SIZE_BITS = 0x3, NOT_BEHIND_DIGIT = 0x40, NOT_HANDLED = 0x80, FIRST_BYTE = 8 };

static int is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

static int is_one_of(uint8_t byte, const char *some) {
    return byte && strchr(some, byte) != NULL;
}

/* The first two letters of the words that may follow a number and a blank: percent, million ... */
static const char NUMBER_WORDS[] = "pe pc pr po hu th mi bi tr mn bn mr us do eu";

static int may_be_number_word(const uint8_t *at) {
    if (*at >= LETTERS_ABOVE || is_one_of(*at, "%$")) return 1;
    for (const char *known = NUMBER_WORDS; known < NUMBER_WORDS + sizeof NUMBER_WORDS; known += 3)
        if (at[0] == (uint8_t)known[0] && at[1] == (uint8_t)known[1]) return 1;
    return 0;
}

/* Whether digits may be a number with several spellings (numbers.py has the last word): `start` is
   the first digit, `end` the place behind the last one. A zero is behind the text. */
static int may_be_respelled(const uint8_t *start, const uint8_t *end, const uint8_t *text) {
    uint8_t before = start > text ? start[-1] : 0, behind = *end;
    if (is_one_of(before, "%$-.")) return 1;
    if (before == BLANK && start - 1 > text && is_one_of(start[-2], "%$")) return 1;
    if (behind == BLANK) {
        if (is_digit(end[1])) return end[2] == '/';
        return may_be_number_word(end + 1);
    }
    if (is_one_of(behind, ".,'-/:*+=")) return is_digit(end[1]);
    return behind >= LETTERS_ABOVE || is_one_of(behind, "^%$") || (behind >= 'a' && behind <= 'z');
}

/* Return the code point at a place of two or three bytes, and their number; 0 for another one. */
static uint32_t code_point(const uint8_t *at, int *bytes) {
    if (at[0] < 0xC0 || at[0] >= 0xF0 || (at[1] & 0xC0) != 0x80) return 0;
    if (at[0] < 0xE0) {
        *bytes = 2;
        return (uint32_t)(at[0] & 0x1F) << 6 | (at[1] & 0x3F);
    }
    if ((at[2] & 0xC0) != 0x80) return 0;
    *bytes = 3;
    return (uint32_t)(at[0] & 0x0F) << 12 | (uint32_t)(at[1] & 0x3F) << 6 | (at[2] & 0x3F);
}

/* Fold one text; return the end of the result without its zero, or NULL if the text is not handled:
   because of a character, or because it has signs alone. `starts` gets the first digits. */
static uint8_t *fold_text(const uint8_t *at, const uint8_t *plain, const uint8_t *classes,
                          const uint32_t *table, int64_t limit, uint8_t *out,
                          const uint8_t ***starts) {
    int after_digit = 0;
    uint8_t highest = 0, lowest = BLANK;
    while (*at) {
        uint32_t entry = 1 | (uint32_t)plain[*at] << FIRST_BYTE;
        int bytes = 1;
        if (*at == ESCAPE) return NULL;
        if (*at >= LETTERS_ABOVE) {
            uint32_t code = code_point(at, &bytes);
            entry = code && code < limit ? table[code] : NOT_HANDLED;
            if (entry & NOT_HANDLED || (entry & NOT_BEHIND_DIGIT && after_digit)) return NULL;
        }
        for (uint32_t i = 0; i < (entry & SIZE_BITS); i++) {
            *out = (uint8_t)(entry >> (FIRST_BYTE + 8 * i));
            uint8_t class = classes[*out];
            if (class > highest) highest = class;
            if (class < lowest) lowest = class;
            if (is_digit(*out) && !after_digit) *(*starts)++ = out;
            after_digit = is_digit(*out++);
        }
        at += bytes;
    }
    return highest <= BLANK && lowest < BLANK ? NULL : out;
}

/* Fold texts.
   in: `size` bytes, zeros included; `plain`: byte -> byte for ASCII; `classes`: as for `cut`;
   table: `limit` entries.
   out: `size` bytes; a text that is not handled is empty there, and its flag in `handled` is 0.
   digits: `size` entries: the places, in characters, of digits that may have several spellings. */
EXPORT int64_t fold(const uint8_t *in, int64_t size, int64_t texts, const uint8_t *plain,
                    const uint8_t *classes, const uint32_t *table, int64_t limit, uint8_t *out,
                    uint8_t *handled, int64_t *digits, int64_t *found) {
    const uint8_t **starts = malloc((size_t)(size + 1) * sizeof *starts);
    if (!starts) return -1;
    const uint8_t *counted = out;
    uint8_t *done = out;
    int64_t characters = 0;
    *found = 0;
    for (int64_t text = 0; text < texts; text++) {
        const uint8_t **last = starts;
        uint8_t *end = fold_text(in, plain, classes, table, limit, done, &last);
        handled[text] = end != NULL;
        if (!end) end = done, last = starts;
        *end = 0;
        for (const uint8_t **start = starts; start < last; start++) {
            const uint8_t *behind = *start;
            while (is_digit(*behind)) behind++;
            if (!may_be_respelled(*start, behind, done)) continue;
            for (; counted < *start; counted++) characters += (*counted & 0xC0) != 0x80;
            digits[(*found)++] = characters;
        }
        done = end + 1;
        in += strlen((const char *)in) + 1;
    }
    free(starts);
    return done - out;
}

/* ---- Cutting: pieces, and words without English articles ---- */

static uint64_t eight_bytes(const uint8_t *at) {
    uint64_t found;
    memcpy(&found, at, WORD);
    return found;
}

static uint64_t mixed(uint64_t code) {
    code = (code ^ code >> 32) * 0x9E3779B97F4A7C15u;
    code = (code ^ code >> 29) * 0xBF58476D1CE4E5B9u;
    return code ^ code >> 32;
}

/* The code of a part of one byte or more, as `byte_codes` of core/byte_codes.py returns it. */
static uint64_t code_of(const uint8_t *at, int64_t size) {
    if (size <= WORD) return eight_bytes(at) << (BITS - 8 * size);
    uint64_t last = eight_bytes(at + size - WORD) + (uint64_t)size;
    uint64_t code = mixed(mixed(eight_bytes(at)) ^ last);
    for (int64_t done = WORD; size > done + WORD; done += WORD)
        code = mixed(code ^ eight_bytes(at + done));
    return code;
}

enum { IS_ARTICLE = 1, IS_FOREIGN = 2, IS_ENGLISH = 4 };
enum { GUESSED, ENGLISH, NOT_ENGLISH };

/* The function words by slot; `seen` is the last text (from 1) that has the word of a slot. */
typedef struct {
    uint64_t multiplier;
    int64_t bits;
    const uint64_t *code;
    const uint8_t *kind;
    int64_t *seen;
} FunctionWords;

/* What is known of the words of one text. */
typedef struct {
    int64_t number, articles, foreign, english;
} Text;

/* Return whether a word is an article; count it if it is a function word. */
static int meet(const FunctionWords *known, Text *text, uint64_t code) {
    uint64_t slot = code * known->multiplier >> (BITS - known->bits);
    uint8_t kind = known->kind[slot];
    if (!kind || known->code[slot] != code) return 0;
    if (known->seen[slot] != text->number) {
        known->seen[slot] = text->number;
        text->foreign += (kind & IS_FOREIGN) != 0;
        text->english += (kind & IS_ENGLISH) != 0;
    }
    return kind & IS_ARTICLE;
}

/* Remove the articles among the words of a text, if `is_english` of text/normalise.py holds and
   other words remain; return the number of words. */
static int64_t drop_articles(uint64_t *words, const uint8_t *article, int64_t count,
                             const Text *text, uint8_t language) {
    int english = language == ENGLISH ||
                  (language == GUESSED && (text->foreign < 2 || text->foreign <= text->english));
    if (!english || !text->articles || text->articles == count) return count;
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++)
        if (!article[i]) words[kept++] = words[i];
    return kept;
}

/* Cut folded texts.
   stream: `size` bytes, zeros included, and PADDING; `classes`: byte -> 0 for the end, below BLANK
   for a sign, BLANK, or above it for a letter; languages: one of the constants above per text.
   pieces, words: room for `size` / 2 codes; piece_counts, word_counts and tails (pieces that belong
   to the word before them): one per text. totals: the numbers of pieces and of words. */
EXPORT int64_t cut(const uint8_t *stream, int64_t size, int64_t texts, const uint8_t *classes,
                   uint64_t multiplier, int64_t bits, const uint64_t *codes, const uint8_t *kinds,
                   const uint8_t *languages, uint64_t *pieces, uint64_t *words,
                   int64_t *piece_counts, int64_t *word_counts, int64_t *tails, int64_t *totals) {
    uint8_t *joined = malloc((size_t)size + PADDING), *article = malloc((size_t)size / 2 + 1);
    int64_t *seen = calloc((size_t)1 << bits, sizeof *seen);
    FunctionWords known = {multiplier, bits, codes, kinds, seen};
    const uint64_t letter_a = code_of((const uint8_t *)"a\0\0\0\0\0\0\0", 1);
    const uint8_t *at = stream;
    int64_t piece = 0, word = 0, ready = joined && article && seen;
    for (int64_t text = 0; ready && text < texts; text++, at++) {
        const uint8_t *first = at;
        int64_t first_piece = piece, first_word = word, parts = 0, length = 0, all_tails = 0;
        Text about = {text + 1, 0, 0, 0};
        const uint8_t *start = at, *end = at;
        for (;; at++) {
            uint8_t class = classes[*at];
            if (class > BLANK) {
                const uint8_t *from = at;
                while (classes[*at] > BLANK) at++;
                if (parts == 1) memcpy(joined, start, (size_t)(length = end - start));
                if (parts++) {
                    memcpy(joined + length, from, (size_t)(at - from));
                    length += at - from;
                }
                start = from, end = at;
                pieces[piece++] = code_of(from, at - from);
                class = classes[*at];
            }
            if (parts && (class == BLANK || class == 0)) { /* the end of a word */
                uint64_t code = parts == 1 ? pieces[piece - 1] : code_of(joined, length);
                int initial = code == letter_a && (start == first || start[-1] == BLANK) &&
                              *end == '.' && (end[1] == BLANK || end[1] == 0);
                int drop = !initial && meet(&known, &about, code);
                about.articles += drop;
                article[word - first_word] = (uint8_t)drop;
                words[word++] = code;
                all_tails += parts - 1;
                parts = 0;
            }
            if (class == 0) break;
        }
        word = first_word + drop_articles(words + first_word, article, word - first_word, &about,
                                          languages[text]);
        piece_counts[text] = piece - first_piece;
        word_counts[text] = word - first_word;
        tails[text] = all_tails;
    }
    free(joined), free(article), free(seen);
    totals[0] = piece, totals[1] = word;
    return ready ? piece : -1;
}

/* ---- Overlap: what an answer shares with each of its gold answers ---- */

typedef int32_t Id; /* of a token or bigram among those of a pair's gold answers; -1 for another */

/* Codes with their ids, by open addressing. */
typedef struct {
    uint64_t *code, mask;
    Id *id, next;
} Table;

static void clear(Table *table, int64_t codes) {
    uint64_t size = 8;
    while (size < 2 * (uint64_t)codes) size *= 2;
    table->mask = size - 1, table->next = 0;
    memset(table->id, 0xFF, size * sizeof *table->id); /* all ids -1 */
}

/* Return the slot of a code, whose id is -1 if the table does not hold it. */
static uint64_t slot_of(const Table *table, uint64_t code) {
    uint64_t slot = (code * 0xD1342543DE82EF95u >> 32) & table->mask;
    while (table->id[slot] >= 0 && table->code[slot] != code) slot = (slot + 1) & table->mask;
    return slot;
}

static Id add(Table *table, uint64_t code) {
    uint64_t slot = slot_of(table, code);
    if (table->id[slot] < 0) table->code[slot] = code, table->id[slot] = table->next++;
    return table->id[slot];
}

/* Return how many tokens of a gold answer the answer has, each as often as in both. */
static int64_t count_shared(const Id *gold, int64_t size, int64_t *left) {
    int64_t shared = 0;
    for (int64_t i = 0; i < size; i++) shared += left[gold[i]]-- > 0;
    for (int64_t i = 0; i < size; i++) left[gold[i]]++;
    return shared;
}

static int64_t zeros(uint64_t bits) {
    int64_t count = 0;
    for (bits = ~bits; bits; bits &= bits - 1) count++;
    return count;
}

/* Return the length of the longest common subsequence, bit-parallel (Hyyro, AWOCA 2004), by blocks
   of 64 gold tokens; `carry` has the carry of each hit between blocks, `mask` is all zeros. */
static int64_t longest_common(const Id *gold, int64_t size, const Id *hits, int64_t count,
                              uint64_t *mask, uint8_t *carry) {
    int64_t length = 0;
    memset(carry, 0, (size_t)count);
    for (int64_t first = 0; first < size; first += BITS) {
        int64_t block = size - first < BITS ? size - first : BITS;
        uint64_t open = ~(uint64_t)0;
        for (int64_t i = 0; i < block; i++) mask[gold[first + i]] |= (uint64_t)1 << i;
        for (int64_t i = 0; i < count; i++) {
            uint64_t hit = open & mask[hits[i]], sum = open + hit, whole = sum + carry[i];
            carry[i] = sum < open || whole < sum;
            open = whole | (open - hit);
        }
        for (int64_t i = 0; i < block; i++) mask[gold[first + i]] = 0;
        length += zeros(open);
    }
    return length;
}

/* Return whether the answer contains a gold answer without a gap (Knuth, Morris and Pratt). */
static int contains(const Id *answer, int64_t count, const Id *gold, int64_t size,
                    int64_t *border) {
    for (int64_t i = 1, matched = border[0] = 0; i < size; i++) {
        while (matched && gold[i] != gold[matched]) matched = border[matched - 1];
        border[i] = matched += gold[i] == gold[matched];
    }
    for (int64_t i = 0, matched = 0; i < count; i++) {
        while (matched && answer[i] != gold[matched]) matched = border[matched - 1];
        matched += answer[i] == gold[matched];
        if (matched == size) return 1;
    }
    return 0;
}

/* Compare each answer with its gold answers, which are sorted by `gold_pair`.
   shared, bigrams (the same of neighbouring tokens), longest (common subsequence) and contained
   (without a gap): one per gold answer. longest_answer, longest_gold: the most tokens of an answer,
   and of all gold answers of a pair. */
EXPORT int64_t overlap(const uint64_t *answers, const int64_t *answer_counts, int64_t pairs,
                       const uint64_t *gold, const int64_t *gold_counts, const int64_t *gold_pair,
                       int64_t golds, int64_t longest_answer, int64_t longest_gold,
                       int64_t *shared, int64_t *bigrams, int64_t *longest, uint8_t *contained) {
    size_t most = (size_t)longest_gold + 1, said = (size_t)longest_answer + 1, slots = 4 * most + 8;
    Table table = {malloc(slots * sizeof(uint64_t)), 0, malloc(slots * sizeof(Id)), 0};
    Id *ids = malloc(2 * (most + 2 * said) * sizeof *ids);
    int64_t *times = malloc(2 * most * sizeof *times);
    uint64_t *mask = calloc(most, sizeof *mask);
    uint8_t *carry = malloc(said);
    int ready = table.code && table.id && ids && times && mask && carry;
    Id *wanted = ids, *wanted_pairs = ids + most, *given = ids + 2 * most;
    Id *given_pairs = given + said, *hits = given_pairs + said;
    int64_t *border = times + most;
    for (int64_t pair = 0, next = 0; ready && pair < pairs; answers += answer_counts[pair++]) {
        int64_t count = answer_counts[pair], first = next, size = 0, hit = 0, hit_pairs = 0;
        for (; next < golds && gold_pair[next] == pair; next++) size += gold_counts[next];
        clear(&table, size);
        for (int64_t i = 0; i < size; i++) wanted[i] = add(&table, gold[i]);
        memset(times, 0, (size_t)table.next * sizeof *times);
        for (int64_t i = 0; i < count; i++) {
            given[i] = table.id[slot_of(&table, answers[i])];
            if (given[i] >= 0) times[given[i]]++, hits[hit++] = given[i];
        }
        const Id *own = wanted;
        for (int64_t i = first; i < next; own += gold_counts[i++]) {
            int64_t length = gold_counts[i];
            int64_t both = hit ? count_shared(own, length, times) : 0;
            shared[i] = both, bigrams[i] = 0;
            longest[i] = both > 1 ? longest_common(own, length, hits, hit, mask, carry) : both;
            contained[i] = length && both == length && contains(given, count, own, length, border);
        }
        gold += size;
        for (int64_t i = 1; i < count; i++) /* neighbours that both occur in gold answers */
            if (given[i - 1] >= 0 && given[i] >= 0) given_pairs[hit_pairs++] = (Id)i;
        if (!hit_pairs) continue;
        clear(&table, size);
        own = wanted;
        for (int64_t i = first; i < next; own += gold_counts[i++])
            for (int64_t j = 1; j < gold_counts[i]; j++)
                wanted_pairs[own - wanted + j] =
                    add(&table, (uint64_t)own[j - 1] << 32 | (uint64_t)own[j]);
        memset(times, 0, (size_t)table.next * sizeof *times);
        for (int64_t i = 0; i < hit_pairs; i++) {
            const Id *two = given + given_pairs[i] - 1;
            Id id = table.id[slot_of(&table, (uint64_t)two[0] << 32 | (uint64_t)two[1])];
            if (id >= 0) times[id]++;
        }
        own = wanted_pairs;
        for (int64_t i = first; i < next; own += gold_counts[i++])
            bigrams[i] = gold_counts[i] > 1 ? count_shared(own + 1, gold_counts[i] - 1, times) : 0;
    }
    free(table.code), free(table.id), free(ids), free(times), free(mask), free(carry);
    return ready ? golds : -1;
}
