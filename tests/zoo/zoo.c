/* One provider, many animals. The request's field `animal` says which; as a doctor (`--doctor ANIMAL PLACE`) the
 * animal does the same and exits with 1 when it managed anything. */
#include "zoo.h"

static char request[65536];
static char answers[65536];
static size_t answered;
static int managed;
static const char *doctor_place;

const char *field(const char *name) {
    static char values[32][PATH_SIZE];
    static int next;
    char key[128];
    if (doctor_place != NULL && strcmp(name, "place") == 0) return doctor_place;
    snprintf(key, sizeof key, "\"%s\"", name);
    const char *found = strstr(request, key);
    if (found == NULL) return "";
    found += strlen(key);
    while (*found == ' ' || *found == ':') found++;
    if (*found == '"') found++;
    char *value = values[next++ % 32];
    size_t length = strcspn(found, "\",}");
    if (length >= PATH_SIZE) length = PATH_SIZE - 1;
    memcpy(value, found, length);
    value[length] = 0;
    return value;
}

long number(const char *name) { return strtol(field(name), NULL, 10); }

const char *at(const char *directory, const char *name) {
    static char paths[32][PATH_SIZE];
    static int next;
    char *path = paths[next++ % 32];
    snprintf(path, PATH_SIZE, "%s/%s", directory, name);
    return path;
}

static void add(const char *name, const char *value) {
    int size = snprintf(answers + answered, sizeof answers - answered, ", \"%s\": %s", name, value);
    if (size > 0 && (size_t)size < sizeof answers - answered) answered += (size_t)size;
}

void say_number(const char *name, long value) {
    char text[32];
    snprintf(text, sizeof text, "%ld", value);
    add(name, text);
}

void say_text(const char *name, const char *value) {
    char text[1024];
    snprintf(text, sizeof text, "\"%.1000s\"", value);
    add(name, text);
}

/* Do one deed in a child, so that one which kills or hangs it is an answer like any other. */
void attempt(const char *name, deed what) {
    int pipe_ends[2];
    char text[64];
    if (pipe(pipe_ends) != 0) {
        say_text(name, "no_pipe");
        return;
    }
    pid_t child = fork();
    if (child < 0) {
        close(pipe_ends[0]);
        close(pipe_ends[1]);
        say_text(name, "no_fork");
        return;
    }
    if (child == 0) {
        close(pipe_ends[0]);
        fcntl(pipe_ends[1], F_SETFD, FD_CLOEXEC);
        alarm(5);
        errno = 0;
        long result = what();
        if (write(pipe_ends[1], &result, sizeof result) < 0) _exit(1);
        _exit(0);
    }
    close(pipe_ends[1]);
    long result = 0;
    ssize_t got = read(pipe_ends[0], &result, sizeof result);
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (got == (ssize_t)sizeof result) {
        if (result >= 0) {
            managed = 1;
            snprintf(text, sizeof text, "did");
        } else {
            snprintf(text, sizeof text, "errno:%ld", -result);
        }
    } else if (WIFSIGNALED(status)) {
        snprintf(text, sizeof text, "signal:%d", WTERMSIG(status));
    } else {
        snprintf(text, sizeof text, "status:%d", WEXITSTATUS(status));
    }
    say_text(name, text);
}

int managed_anything(void) { return managed; }

int main(int count, char **words) {
    int doctor = count > 1 && strcmp(words[1], "--doctor") == 0;
    const char *animal;
    if (doctor) {
        if (count < 4) return 0;
        animal = words[2];
        doctor_place = words[3];
    } else {
        size_t size = 0;
        ssize_t got;
        while (size < sizeof request - 1 && (got = read(0, request + size, sizeof request - 1 - size)) > 0)
            size += (size_t)got;
        animal = field("animal");
    }
    int known = survive(animal) || write_outside(animal) || read_outside(animal) || call_out(animal) ||
                meddle(animal) || hog(animal) || gain(animal);
    dprintf(doctor ? 2 : 1, "{\"ok\": true, \"animal\": \"%s\"%s}\n", animal, answers);
    if (!known) return 64;
    return doctor && managed ? 1 : 0;
}
