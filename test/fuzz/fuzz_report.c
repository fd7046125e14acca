/* fuzz_report.c: feeds any bytes as the JSON of a run. Accepted input is shown in all formats. */
#include <stdio.h>
#include <stdlib.h>

#include "report/report.h"
#include "tools.h"
#include "fuzz.h"

static void show(const struct run *run, FILE *to) {
    struct comparison c;
    report_text(to, run);
    report_html(to, run);
    report_compare(run, run, &c);
    report_text_comparison(to, run, run, &c);
    report_html_comparison(to, run, run, &c);
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
