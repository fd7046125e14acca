/* fuzz_report.c: feeds any bytes as the JSON of a run. Accepted input is shown in all formats. */
#include <stdio.h>
#include <stdlib.h>

#include "report/report_compare.h"
#include "report/report_csv.h"
#include "tools.h"
#include "fuzz.h"

static void show(struct run *run, FILE *to) {
    struct comparison c;
    struct run_group pair[] = {{.name = "A", .runs = run, .count = 1},
                               {.name = "B", .runs = run, .count = 1}};
    struct run_groups groups = {.of = pair, .count = 2, .path_count = 2};
    report_text(to, run);
    report_html(to, run);
    report_csv(to, &groups, CSV_ALL);
    report_compare(&groups, &c);
    report_text_comparison(to, &c);
    report_html_comparison(to, &c);
    comparison_free(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static FILE *to;
    struct run run;
    unsigned errors = fuzz_errors();
    if (!to)
        to = fopen("/dev/null", "we");
    fuzz_must(to != NULL);
    int err = report_read(fuzz_file(data, size), &run);
    fuzz_must(err ? err == BAD_INPUT && fuzz_errors() == errors + 1 : fuzz_errors() == errors);
    if (!err) {
        show(&run, to);
        report_free(&run);
    }
    return 0;
}
