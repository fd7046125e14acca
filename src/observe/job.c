/* job.c: see job.h. */
#include "observe/job.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/settings.h"

static uint64_t loaded_ns;

__attribute__((constructor)) static void job_note_start(void) {
    loaded_ns = clock_ns();
}

double job_seconds(void) {
    return (double)(clock_ns() - loaded_ns) / 1e9;
}

/* Arguments are separated by 0 bytes; overlong command lines are truncated. */
static void job_read_command(char *text, size_t room) {
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, room - 1);
    if (fd >= 0)
        close(fd);
    n = n > 0 ? n : 0;
    while (n && !text[n - 1])
        n--;
    text[n] = 0;
    for (ssize_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : ' ';
}

/* The first line, with one blank for any number of blanks, tabs and other control characters. */
static void job_clean(const char *from, char *to, size_t room) {
    size_t n = 0;
    for (; *from && *from != '\n' && n + 1 < room; from++) {
        bool is_blank = (unsigned char)*from <= ' ' || *from == 0x7f;
        if (!is_blank)
            to[n++] = *from;
        else if (n && to[n - 1] != ' ')
            to[n++] = ' ';
    }
    while (n && to[n - 1] == ' ')
        n--;
    to[n] = 0;
}

static void job_json_settings(struct json *j) {
    size_t count;
    const struct setting *table = settings_table(&count);
    json_open(j, "settings", '{');
    for (size_t i = 0; i < count; i++) {
        char value[4096];
        if (settings_source(i) != SOURCE_ENVIRONMENT)
            continue;
        settings_print(&table[i], settings_get(), value, sizeof value);
        json_string(j, table[i].name, value);
    }
    json_close(j, '}');
}

void job_json(struct json *j, int ranks, const char *mpi) {
    char command[4096], version[512];
    job_read_command(command, sizeof command);
    job_clean(mpi, version, sizeof version);
    json_string(j, "hearth", HEARTH_VERSION);
    json_count(j, "format", 2);
    json_count(j, "ranks", (uint64_t)ranks);
    json_open(j, "job", '{');
    json_string(j, "command", command);
    json_string(j, "mpi", version);
    json_count(j, "begun", (uint64_t)time(NULL) - (uint64_t)job_seconds()); /* seconds since 1970 */
    json_count(j, "cache_bytes", settings_get()->cache_size);
    json_count(j, "cache_bytes_most", settings_get()->cache_max);
    job_json_settings(j);
    json_close(j, '}');
}
