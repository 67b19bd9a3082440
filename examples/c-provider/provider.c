/* Checksums one text: one JSON request on standard input, one JSON response on standard output.
 *
 * The request is `{"schema_version": "loopx_c_checksum_request_v0", "text": "…"}`, the response holds the number of
 * bytes of the text in UTF-8 and their CRC-32. `--doctor` proves that it works. C11, nothing but the standard library.
 *
 * The reader is strict: UTF-8 without a byte order mark, one value, no key twice in an object, no NaN and no number
 * that overflows, at most 64 levels, no lone surrogate, integers of at most 4300 digits. Whoever reads the same
 * bytes with another strict reader reads the same request. */

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST "loopx_c_checksum_request_v0"
#define RESPONSE "loopx_c_checksum_response_v0"

enum { LARGEST = 1000000, DEEPEST = 64, LONGEST_INTEGER = 4300, NO_CHARACTER = -1 };

/* ---- The reader ------------------------------------------------------------------------------------------------ */

typedef struct {
    const char *bytes; /* not ended by a zero: a text may hold one */
    size_t length;
} Text;

typedef struct {
    const unsigned char *next; /* a zero byte stands at the end of the document, and is allowed nowhere in it */
    const unsigned char *end;
    char *decoded; /* where the next decoded byte of a string goes; never more than were read */
    Text *keys;    /* of all objects that are open; those of the innermost come last */
    size_t key_count, key_room;
    const char *wrong; /* what the first violation was, or NULL */
} Reader;

/* What the provider wants to know of the outermost object. */
typedef struct {
    bool is_object, has_unknown_field, has_version, has_text;
    Text version, text;
} Request;

static bool refuse(Reader *reader, const char *why) {
    if (reader->wrong == NULL) reader->wrong = why;
    return false;
}

static void skip_space(Reader *reader) {
    while (*reader->next == ' ' || *reader->next == '\t' || *reader->next == '\r' || *reader->next == '\n') {
        reader->next++;
    }
}

static bool take(Reader *reader, char wanted) {
    if (*reader->next != (unsigned char)wanted) return false;
    reader->next++;
    return true;
}

static bool take_word(Reader *reader, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(reader->end - reader->next) < length || memcmp(reader->next, word, length) != 0) {
        return refuse(reader, "not JSON: a value was expected");
    }
    reader->next += length;
    return true;
}

/* Return the code point of four hex digits, or NO_CHARACTER. */
static long hex4(Reader *reader) {
    long value = 0;
    for (int digit = 0; digit < 4; digit++) {
        unsigned char c = *reader->next;
        int worth = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (c >= 'A' && c <= 'F') worth = c - 'A' + 10;
        if (worth < 0) return NO_CHARACTER;
        value = value * 16 + worth;
        reader->next++;
    }
    return value;
}

static void append_utf8(Reader *reader, long point) {
    char *to = reader->decoded;
    if (point < 0x80) {
        *to++ = (char)point;
    } else if (point < 0x800) {
        *to++ = (char)(0xC0 | point >> 6);
        *to++ = (char)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        *to++ = (char)(0xE0 | point >> 12);
        *to++ = (char)(0x80 | (point >> 6 & 0x3F));
        *to++ = (char)(0x80 | (point & 0x3F));
    } else {
        *to++ = (char)(0xF0 | point >> 18);
        *to++ = (char)(0x80 | (point >> 12 & 0x3F));
        *to++ = (char)(0x80 | (point >> 6 & 0x3F));
        *to++ = (char)(0x80 | (point & 0x3F));
    }
    reader->decoded = to;
}

/* Take what follows a backslash. */
static bool escape(Reader *reader) {
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    unsigned char c = *reader->next++;
    const char *found = c == 0 ? NULL : strchr(names, c);
    if (found != NULL) {
        *reader->decoded++ = meanings[found - names];
        return true;
    }
    if (c != 'u') return refuse(reader, "not JSON: an unknown escape");
    long point = hex4(reader);
    if (point == NO_CHARACTER) return refuse(reader, "not JSON: four hex digits were expected");
    if (point >= 0xDC00 && point <= 0xDFFF) return refuse(reader, "a lone surrogate");
    if (point >= 0xD800 && point <= 0xDBFF) {
        if (!take(reader, '\\') || !take(reader, 'u')) return refuse(reader, "a lone surrogate");
        long low = hex4(reader);
        if (low < 0xDC00 || low > 0xDFFF) return refuse(reader, "a lone surrogate");
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(reader, point);
    return true;
}

/* Take one character of more than one byte: no longer than it need be, no surrogate, nothing past U+10FFFF. */
static bool multibyte(Reader *reader) {
    const unsigned char *at = reader->next;
    int more = *at >= 0xC2 && *at <= 0xDF ? 1 : (*at & 0xF0) == 0xE0 ? 2 : *at >= 0xF0 && *at <= 0xF4 ? 3 : 0;
    bool is_wrong = more == 0 || (*at == 0xE0 && at[1] < 0xA0) || (*at == 0xED && at[1] > 0x9F) ||
                    (*at == 0xF0 && at[1] < 0x90) || (*at == 0xF4 && at[1] > 0x8F);
    for (int index = 1; index <= more && !is_wrong; index++) is_wrong = (at[index] & 0xC0) != 0x80;
    if (is_wrong) return refuse(reader, "not valid UTF-8");
    memcpy(reader->decoded, at, (size_t)more + 1);
    reader->decoded += more + 1;
    reader->next += more + 1;
    return true;
}

static bool string(Reader *reader, Text *text) {
    if (!take(reader, '"')) return refuse(reader, "not JSON: a string was expected");
    text->bytes = reader->decoded;
    while (*reader->next != '"') {
        if (*reader->next < 0x20) return refuse(reader, "not JSON: a string without an end, or a control character");
        if (*reader->next >= 0x80) {
            if (!multibyte(reader)) return false;
        } else if (take(reader, '\\')) {
            if (!escape(reader)) return false;
        } else {
            *reader->decoded++ = (char)*reader->next++;
        }
    }
    text->length = (size_t)(reader->decoded - text->bytes);
    return take(reader, '"');
}

static size_t digits(Reader *reader) {
    const unsigned char *first = reader->next;
    while (*reader->next >= '0' && *reader->next <= '9') reader->next++;
    return (size_t)(reader->next - first);
}

static bool number(Reader *reader) {
    const char *first = (const char *)reader->next;
    take(reader, '-');
    bool begins_with_zero = *reader->next == '0';
    size_t whole = digits(reader);
    if (whole == 0 || (begins_with_zero && whole > 1)) return refuse(reader, "not JSON: a value was expected");
    if (whole > LONGEST_INTEGER) return refuse(reader, "an integer that is too long");
    bool has_fraction = take(reader, '.');
    if (has_fraction && digits(reader) == 0) return refuse(reader, "not JSON: digits were expected");
    bool has_exponent = take(reader, 'e') || take(reader, 'E');
    if (has_exponent && !take(reader, '+')) take(reader, '-');
    if (has_exponent && digits(reader) == 0) return refuse(reader, "not JSON: digits were expected");
    bool overflows = (has_fraction || has_exponent) && isinf(strtod(first, NULL));
    return !overflows || refuse(reader, "a number that overflows");
}

static int compare(const void *left, const void *right) {
    const Text *a = left, *b = right;
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    return a->length == 0 ? 0 : memcmp(a->bytes, b->bytes, a->length);
}

/* Close the innermost object: its keys, from `first` on, must differ. Sorted, so that many keys cost little. */
static bool keys_differ(Reader *reader, size_t first) {
    size_t count = reader->key_count - first;
    Text *keys = reader->keys + first;
    if (count > 1) qsort(keys, count, sizeof *keys, compare);
    for (size_t index = 1; index < count; index++) {
        if (compare(&keys[index - 1], &keys[index]) == 0) return refuse(reader, "a key stands twice in one object");
    }
    reader->key_count = first;
    return true;
}

static bool remember_key(Reader *reader, Text key) {
    if (reader->key_count == reader->key_room) {
        size_t room = reader->key_room == 0 ? 64 : 2 * reader->key_room;
        Text *grown = realloc(reader->keys, room * sizeof *grown);
        if (grown == NULL) return refuse(reader, "not enough memory");
        reader->keys = grown;
        reader->key_room = room;
    }
    reader->keys[reader->key_count++] = key;
    return true;
}

static bool equals(Text text, const char *word) {
    return text.length == strlen(word) && memcmp(text.bytes, word, text.length) == 0;
}

static bool value(Reader *reader, int depth, Request *request);

/* Take the value of a member; `request` is NULL except in the outermost object. */
static bool member(Reader *reader, Text key, int depth, Request *request) {
    Text unused, *wanted = NULL;
    if (request != NULL && equals(key, "schema_version")) wanted = &request->version;
    if (request != NULL && equals(key, "text")) wanted = &request->text;
    if (request != NULL && wanted == NULL) request->has_unknown_field = true;
    if (*reader->next != '"') return value(reader, depth, NULL);
    if (wanted != NULL) *(wanted == &request->text ? &request->has_text : &request->has_version) = true;
    return string(reader, wanted == NULL ? &unused : wanted);
}

static bool object(Reader *reader, int depth, Request *request) {
    size_t first_key = reader->key_count;
    take(reader, '{');
    skip_space(reader);
    if (take(reader, '}')) return true;
    do {
        Text key;
        skip_space(reader);
        if (!string(reader, &key) || !remember_key(reader, key)) return false;
        skip_space(reader);
        if (!take(reader, ':')) return refuse(reader, "not JSON: a colon was expected");
        skip_space(reader);
        if (!member(reader, key, depth, request)) return false;
        skip_space(reader);
    } while (take(reader, ','));
    if (!take(reader, '}')) return refuse(reader, "not JSON: a comma or a closing brace was expected");
    return keys_differ(reader, first_key);
}

static bool array(Reader *reader, int depth) {
    take(reader, '[');
    skip_space(reader);
    if (take(reader, ']')) return true;
    do {
        skip_space(reader);
        if (!value(reader, depth, NULL)) return false;
        skip_space(reader);
    } while (take(reader, ','));
    return take(reader, ']') || refuse(reader, "not JSON: a comma or a closing bracket was expected");
}

/* Take one value inside `depth` others. */
static bool value(Reader *reader, int depth, Request *request) {
    Text unused;
    bool is_nested = *reader->next == '{' || *reader->next == '[';
    if (is_nested && depth == DEEPEST) return refuse(reader, "nested too deep");
    switch (*reader->next) {
    case '{': return object(reader, depth + 1, request);
    case '[': return array(reader, depth + 1);
    case '"': return string(reader, &unused);
    case 't': return take_word(reader, "true");
    case 'f': return take_word(reader, "false");
    case 'n': return take_word(reader, "null");
    default: return number(reader);
    }
}

/* Read a document of `length` bytes that a zero byte follows; return what is wrong with it, or NULL. The texts of
 * the request point into `decoded`, which has to hold as many bytes as the document. */
static const char *read_request(const char *document, size_t length, char *decoded, Request *request) {
    Reader reader = {.next = (const unsigned char *)document, .decoded = decoded};
    reader.end = reader.next + length;
    *request = (Request){0};
    skip_space(&reader);
    request->is_object = *reader.next == '{';
    if (value(&reader, 0, request)) {
        skip_space(&reader);
        if (reader.next != reader.end) refuse(&reader, "not JSON: something follows the value");
    }
    free(reader.keys);
    return reader.wrong;
}

/* ---- The job --------------------------------------------------------------------------------------------------- */

static uint32_t crc32(Text text) {
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t index = 0; index < text.length; index++) {
        crc ^= (unsigned char)text.bytes[index];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static const char *complaint(const Request *request) {
    if (!request->is_object) return "the request is not a JSON object";
    if (!request->has_version || !equals(request->version, REQUEST)) return "schema_version must be " REQUEST;
    if (request->has_unknown_field) return "the only other field is text";
    return request->has_text ? NULL : "text must be a string";
}

/* Print the response and return the exit status; what is printed needs no escape. */
static int respond(const char *wrong, const Request *request) {
    printf("{\"ok\": %s, \"schema_version\": \"" RESPONSE "\", ", wrong == NULL ? "true" : "false");
    if (wrong == NULL) {
        printf("\"bytes\": %zu, \"crc32\": \"%08lx\"}\n", request->text.length, (unsigned long)crc32(request->text));
    } else {
        printf("\"error\": \"%s\"}\n", wrong);
    }
    return fflush(stdout) == 0 && wrong == NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int serve(void) {
    static char document[LARGEST + 2], decoded[LARGEST + 2];
    Request request = {0};
    size_t length = fread(document, 1, LARGEST + 1, stdin);
    if (ferror(stdin)) return respond("the request could not be read", &request);
    if (length > LARGEST) return respond("the request is too large", &request);
    document[length] = 0;
    const char *wrong = read_request(document, length, decoded, &request);
    return respond(wrong != NULL ? wrong : complaint(&request), &request);
}

/* Checksum a text whose checksum is known, and see that what is no strict JSON is refused. */
static int doctor(void) {
    static const char good[] = "{\"text\": \"\\u0031\\/23456789\", \"schema_version\": \"" REQUEST "\"}";
    static const char *const bad[] = {"", "{", "[1,]", "NaN", "01", "1e999", "{\"a\":1,\"\\u0061\":2}", "\"\\ud800\"",
                                      "\"\xC0\xAF\"", "\"\xED\xA0\x80\"", "\xEF\xBB\xBF{}", "{} {}"};
    char decoded[sizeof good];
    Request request;
    bool is_well = read_request(good, strlen(good), decoded, &request) == NULL && complaint(&request) == NULL &&
                   crc32(request.text) == 0x2D44351Bu && crc32((Text){"123456789", 9}) == 0xCBF43926u;
    for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) {
        is_well = is_well && read_request(bad[index], strlen(bad[index]), decoded, &request) != NULL;
    }
    if (!is_well) fputs("the doctor did not get the answers it knows\n", stderr);
    return is_well ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
    return argc == 2 && strcmp(argv[1], "--doctor") == 0 ? doctor() : serve();
}
