/* unit_pages_behind.c: tests pages that are in memory only, until they are on the NVM. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "pages/service/service.h"

enum { PAGE = 4096, PLACES = 4 };

static struct pages_pool pool = {.page_bytes = PAGE};
static struct service service;
static struct behind entries[PLACES];
static char buffers[PLACES][PAGE], first[PAGE], second[PAGE];

static void open_places(void) {
    service = (struct service){.pool = &pool};
    service.home.works_most = service.behind.most = PLACES;
    service.behind.entries = entries;
    for (int i = 0; i < PLACES; i++)
        entries[i] = (struct behind){.frame = POOL_NO_FRAME, .buffer = buffers[i]};
    memset(first, 1, PAGE);
    memset(second, 2, PAGE);
}

TEST(a_page_is_kept_in_one_place)
{
    open_places();
    expect(pages_behind_keep(&service, 7, first));
    expect(pages_behind_keep(&service, 7, second));
    expect(service.behind.unwritten == 1);
    expect(memcmp(pages_behind_of(&service, 7)->buffer, second, PAGE) == 0);
}

/* The NVM would hold parts of both. */
TEST(a_page_that_is_being_written_is_not_overwritten)
{
    open_places();
    expect(pages_behind_keep(&service, 7, first));
    struct behind *b = pages_behind_of(&service, 7);
    b->writing = true;
    b->dirty = false;
    expect(!pages_behind_keep(&service, 7, second));
    expect(memcmp(b->buffer, first, PAGE) == 0);
    expect(!b->dirty);
}

TEST(a_page_whose_write_failed_is_replaced)
{
    open_places();
    expect(pages_behind_keep(&service, 7, first));
    struct behind *b = pages_behind_of(&service, 7);
    b->writing = true;
    b->dirty = false;
    pages_behind_written(&service, b, -EIO);
    expect(pages_behind_keep(&service, 7, second));
    expect(memcmp(pages_behind_of(&service, 7)->buffer, second, PAGE) == 0);
    expect(service.behind.unwritten == 1 && service.behind.failed == 1);
}

TEST(a_page_that_was_written_leaves)
{
    open_places();
    expect(pages_behind_keep(&service, 7, first));
    struct behind *b = pages_behind_of(&service, 7);
    b->writing = true;
    b->dirty = false;
    pages_behind_written(&service, b, 0);
    expect(pages_behind_of(&service, 7) == NULL);
    expect(service.behind.unwritten == 0 && service.behind.end == 0);
}
