/* pass.c: the message-passing test; see pass.h. */
#include "pass.h"

static void call(void (*step)(void)) {
    if (step)
        step();
}

static void write_and_tell(const struct pass *pass, struct place p, uint64_t v) {
    receive_word(READER, TAG_READY);
    litmus_delay();
    place_write(p, v);
    litmus_delay();
    pass->tell(v);
}

static void read_and_hear(const struct pass *pass, struct place p, uint64_t v) {
    expect_last(p);
    call(pass->prepare);
    send_word(WRITER, TAG_READY, v);
    litmus_delay();
    pass->hear(v);
    expect_value(p, v);
    if (litmus_roll(4) == 0)
        expect_last(p); /* may be served by the cache */
    call(pass->finish);
}

void pass_run(const struct litmus *self) {
    const struct pass *pass = self->arg;
    call(pass->open);
    for (uint64_t v; (v = litmus_next());) {
        struct place p = place_pick(WRITER);
        if (litmus_rank == WRITER)
            write_and_tell(pass, p, v);
        else
            read_and_hear(pass, p, v);
    }
    call(pass->close);
}

void pass_expect(uint64_t got, uint64_t news) {
    if (got != news)
        litmus_forbid("was told %llu, expected %llu", (unsigned long long)got, (unsigned long long)news);
}

void tell_by_send(uint64_t news) {
    send_word(READER, TAG_NEWS, news);
}

void take_message(void) {
    receive_word(WRITER, TAG_NEWS);
}
