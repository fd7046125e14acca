/* options.h: the options of a simulation, as a table; --help prints it. Numbers take k, m, g (1024 each) and
 * fractions such as 0.5. */
#ifndef HEARTH_SIM_OPTIONS_H
#define HEARTH_SIM_OPTIONS_H

struct option_entry {
    const char *name, *fallback, *help;
    const char *value; /* set by options_read */
};

/* The table ends with a name of NULL. Ends the program after --help, or with an error message if an option is
 * unknown. */
void options_read(struct option_entry *table, int argc, char **argv, const char *what);

const char *options_word(const struct option_entry *table, const char *name);
double options_number(const struct option_entry *table, const char *name);

/* Returns the next word of a comma-separated list, in the buffer; NULL after the last. `at` starts as the list. */
char *options_next(const char **at, char *buffer, unsigned room);
double options_parse(const char *name, const char *text);

/* Prints the progress of a long run on stderr, at most every two seconds; nothing if stderr is not a terminal
 * or SIM_PROGRESS is not set. */
void progress(const char *what, double share);
void progress_end(void);

#endif
