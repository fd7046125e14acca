/* match.c: message matching by MPI's rules, without MPI.
 * build: cc match.c -o match $(pkg-config --cflags --libs hearth-match)        run: ./match */
#include <hearth/match.h>
#include <stdio.h>

int main(void) {
    struct match *engine;
    match_entry entry;
    void *found = NULL;
    char *receive = "receive of tag 7 from anyone", *message = "message of tag 7 from rank 3";
    if (match_open(NULL, &engine))
        return 1;
    int posted = match_post(engine, MATCH_ANY_SOURCE, 7, 0, receive, &entry, &found); /* no message yet: 0 */
    int other = match_arrive(engine, 3, 8, 0, "message of tag 8", &found);            /* does not match: 0 */
    int arrived = match_arrive(engine, 3, 7, 0, message, &found);                     /* matches: 1 */
    printf("match: %s took the %s\n", message, (char *)found);
    match_close(engine);
    return posted != 0 || other != 0 || arrived != 1 || found != receive;
}
