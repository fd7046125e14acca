/* settings.h: user settings, from environment variables named HEARTH_*. settings.def lists them. */
#ifndef HEARTH_SETTINGS_H
#define HEARTH_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting_kind {
    SETTING_count,
    SETTING_size,
    SETTING_real,
    SETTING_choice,
    SETTING_text,
    SETTING_file,
    SETTING_levels
};
enum setting_audience { FOR_USERS, FOR_EXPERTS, FOR_MEASUREMENTS };
enum setting_source { SOURCE_DEFAULT, SOURCE_ENVIRONMENT };

typedef uint64_t setting_count_t;
typedef uint64_t setting_size_t;
typedef double setting_real_t;
typedef int setting_choice_t; /* position in the list of words */
typedef const char *setting_text_t;
typedef const char *setting_file_t;
typedef const char *setting_levels_t; /* as log_set_levels reads them */

struct settings {
#define SETTING(kind, field, ...) setting_##kind##_t field;
#include "base/settings.def"
};

/* Choices, in the order of their words. */
enum recorded { RECORD_OFF, RECORD_ON, RECORD_ALL };
enum mode { MODE_TRANSPARENT, MODE_ALWAYS, MODE_USER, MODE_OFF, MODE_ACQUIRE, MODE_AUTO };
enum bypass { BYPASS_AUTO, BYPASS_ALWAYS, BYPASS_NEVER };
enum matching { MATCHING_OFF, MATCHING_ON, MATCHING_AUTO };
enum windows { WINDOWS_HOST, WINDOWS_SERVE, WINDOWS_AUTO };
enum atomics { ATOMICS_ACQUIRE, ATOMICS_QUIET };
enum heater { HEATER_AUTO, HEATER_ON, HEATER_OFF };
enum heater_level { HEATER_L2, HEATER_L3, HEATER_ANY };
enum link_over { LINK_OVER_UCX, LINK_OVER_MPI };
enum direct { DIRECT_AUTO, DIRECT_ON, DIRECT_OFF };
enum nvm { NVM_OFF, NVM_ON };
enum write_back { WRITE_BACK_NVM, WRITE_BACK_DRAM };
enum { GASNET_RULES_WARN, GASNET_RULES_END };
enum local_access { LOCAL_SIGNAL, LOCAL_USERFAULT };
enum score { SCORE_FULL, SCORE_TEMPORAL, SCORE_POSITIONAL };

struct setting {
    const char *name, *fallback, *words, *help;
    enum setting_kind kind;
    enum setting_audience audience; /* the table is in this order */
    double least, most;
    size_t offset; /* in struct settings */
};

/* Reads the environment at the first call. An invalid value is reported and replaced by the default. An unknown
 * name is reported, with the setting that it looks like. Thread-safe. */
const struct settings *settings_get(void);

/* Whether HEARTH=off. Reads that variable alone, so that a process that does without Hearth reports no other setting. */
bool settings_are_off(void);

/* The table, for listings. */
const struct setting *settings_table(size_t *count);
enum setting_source settings_source(size_t index);

/* Invalid settings and unknown names. They are logged when the settings are read, unless settings_hold was called before: then
 * the caller logs them when the ranks of the job have compared their codes, so that one rank speaks for all. */
void settings_hold(void);
/* 0: there are none, or they were logged. The same code means, almost certainly, the same complaints. */
uint32_t settings_complaints(void);
/* Logs them once, for this number of ranks, 0 if it is unknown; or drops them, as another rank logs them. */
void settings_complain(int ranks, int of);
void settings_complained(void);

/* The setting of this name, or NULL. */
const struct setting *settings_find(const char *name);

/* Sets one setting from text. Returns 0, or -EINVAL with the reason, which names value and range, in `why`. */
int settings_parse(const struct setting *s, const char *text, struct settings *into, char *why,
                   size_t why_size);

/* The value of one setting as text that settings_parse converts back to the same value. */
void settings_print(const struct setting *s, const struct settings *from, char *text, size_t room);

/* Sets all to their defaults. */
void settings_defaults(struct settings *into);

/* Position of word in "a|b|c", or -1. */
int settings_word(const char *words, const char *word);

/* The absolute form of a file name in a setting: relative ones belong to the folder in which the program started, wherever it goes later.
 * The name itself, if it is absolute or that folder is unknown. */
void settings_path(const char *name, char *path, size_t room);

/* The setting whose name is nearest to an unknown one, or NULL if none is near. */
const struct setting *settings_nearest(const char *name);

#endif
