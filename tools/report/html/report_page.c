/* report_page.c: the frame of a page. One file, no script, no external resources. Text keeps its size at any width,
 * since only the charts' drawings are stretched. */
#include "report/html/report_page.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

/* Escapes text: five characters could be markup, control characters have no meaning, and invalid bytes could hide
 * the characters after them. */
void page_text(FILE *f, const char *text) {
    static const char special[] = "&<>\"'";
    static const char *const instead[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    size_t left = strlen(text), n;
    for (; left; text += n, left -= n) {
        size_t valid = utf8_length(text, left);
        const char *place = strchr(special, *text);
        n = valid ? valid : 1;
        if (!valid || (unsigned char)*text < 0x20 || *text == 0x7f)
            fputs("\xef\xbf\xbd", f);
        else if (place)
            fputs(instead[place - special], f);
        else
            fwrite(text, 1, n, f);
    }
}

void page_begin(FILE *f, const char *title) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"generator\" content=\"Hearth " HEARTH_VERSION "\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>", /* otherwise a browser would request one */
          f);
    page_text(f, title);
    fputs("</title>\n", f);
    page_style(f);
    fputs("</head>\n<body>\n<h1>", f);
    page_text(f, title);
    fputs("</h1>\n", f);
}

void page_end(FILE *f) {
    fputs("<p class=\"note\">Made by hearth report, Hearth " HEARTH_VERSION
          ". doc/report.md explains the numbers.</p>\n"
          "</body>\n</html>\n",
          f);
}

void page_section(FILE *f, const char *id, const char *title) {
    fprintf(f, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

void page_section_end(FILE *f) {
    fputs("</section>\n", f);
}

void page_table(FILE *f, const char *what) {
    fputs("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"", f);
    page_text(f, what);
    fputs("\"><table>\n", f);
}

void page_table_end(FILE *f) {
    fputs("</table></div>\n", f);
}

void page_missing(FILE *f, const char *why) {
    fprintf(f, "<p class=\"missing\">%s</p>\n", why);
}

/* ---- cells ---- */

void cell_count(FILE *f, const char *name, uint64_t value) {
    fprintf(f, "<td data-%s=\"%" PRIu64 "\">%s</td>", name, value, say_count(value));
}

void cell_bytes(FILE *f, const char *name, uint64_t value) {
    fprintf(f, "<td data-%s=\"%" PRIu64 "\" title=\"%" PRIu64 " bytes\">%s</td>", name, value, value,
            say_bytes(value));
}

void cell_ratio(FILE *f, const char *name, double value) {
    fprintf(f, "<td data-%s=\"%.6g\">%.3f</td>", name, value, value);
}

void cell_text(FILE *f, const char *text) {
    fputs("<td class=\"text name\">", f);
    page_text(f, text);
    fputs("</td>", f);
}

void cell_seconds(FILE *f, const char *name, double value) {
    fprintf(f, "<td data-%s=\"%.6g\">%s</td>", name, value, value > 0 ? say_seconds(value) : "0");
}
