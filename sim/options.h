/* options.h: the options of a simulation, a table; --help prints it. Numbers take k, m, g (1024 each) and
 * 0.5. */
#ifndef HEARTH_SIM_OPTIONS_H
#define HEARTH_SIM_OPTIONS_H

struct option_entry {
    const char *name, *fallback, *help;
    const char *value; /* set by options_read */
};

/* The table ends with a name of NULL. Ends the program: after --help, or with a sentence if an option is not
 * one of them. */
void options_read(struct option_entry *table, int argc, char **argv, const char *what);

const char *options_word(const struct option_entry *table, const char *name);
double options_number(const struct option_entry *table, const char *name);

/* The next of the words between commas; NULL after the last. `at` begins as the list. The buffer holds it. */
char *options_next(const char **at, char *buffer, unsigned room);
double options_parse(const char *name, const char *text);

/* A line on stderr that says how far a long run is, at most every two seconds; nothing if stderr is not a
 * terminal or SIM_PROGRESS is not set. */
void progress(const char *what, double share);
void progress_end(void);

#endif
