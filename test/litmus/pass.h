/* pass.h: message passing, the test behind most others, with many ways of passing the message.
 *
 *      writer                              reader
 *                                          read p: the old value, now perhaps cached
 *                                          prepare
 *         <------ ready, standard send ------
 *      write p = v, complete it
 *      tell  - - - - - - - - - - - - - - > hear
 *                                          read p: must be v
 *                                          finish
 *
 * hear is the only call between the reads that can notify the reader. */
#ifndef HEARTH_LITMUS_PASS_H
#define HEARTH_LITMUS_PASS_H

#include "litmus.h"

struct pass {
    void (*open)(void);          /* on both, before the first run */
    void (*prepare)(void);       /* on the reader: must not acquire */
    void (*tell)(uint64_t news); /* on the writer */
    void (*hear)(uint64_t news); /* on the reader; news is the value it waits for */
    void (*finish)(void);        /* on the reader */
    void (*close)(void);         /* on both */
};

void pass_run(const struct litmus *self);
/* Checks that the received word is that of this run. */
void pass_expect(uint64_t got, uint64_t news);

#define PASS(name_, ...)                                                                                     \
    __attribute__((constructor)) static void register_##name_(void) {                                        \
        static const struct pass pass = {__VA_ARGS__};                                                       \
        static const struct litmus test = {                                                                  \
            .name = #name_, .run = pass_run, .ranks = 2, .marks = MARK_CATCHES, .arg = &pass};               \
        litmus_register(&test);                                                                              \
    }                                                                                                        \
    _Static_assert(1, "a semicolon follows")

/* For tell: sends a plain message. */
void tell_by_send(uint64_t news);
/* For finish: receives that message. */
void take_message(void);

#endif
