/* report_page.c: the frame of a page. One file, no script, no external resources. Text keeps its size at any width,
 * since only the charts' drawings are stretched. */
#include "report/report_page.h"

#include <string.h>

static const char style[] =
    ":root{--ink:#1c2330;--soft:#5b6472;--line:#d9dde3;--back:#ffffff;--panel:#f7f8fa;--accent:#0072b2}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1.2rem;max-width:80rem;background:var(--back);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu "
    "Sans',sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.1rem;margin:0 0 .6rem}\n"
    "section{margin:1.2rem 0;padding:1rem;border:1px solid var(--line);border-radius:.5rem;min-width:0}\n"
    ".pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1.2rem}\n"
    ".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.6rem;margin:1rem 0}\n"
    ".facts div{background:var(--panel);border-radius:.4rem;padding:.5rem .7rem}\n"
    ".facts b{display:block;font-size:1.25rem;font-variant-numeric:tabular-nums}\n"
    ".facts span,.note,figcaption{color:var(--soft);font-size:.85rem}\n"
    "dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem 1rem;margin:0}\n"
    "dt{color:var(--soft)}dd{margin:0}code{font-size:.9em}\n"
    ".wide{overflow-x:auto;margin-top:.6rem}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.88rem}\n"
    "th,td{padding:.25rem .5rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "th{color:var(--soft);font-weight:600}td.text,th.text{text-align:left}tr.sum td{font-weight:600}\n"
    "td.name{white-space:normal;min-width:9rem}\n"
    ".missing{background:var(--panel);border-left:.25rem solid var(--line);padding:.5rem .8rem;margin:.3rem "
    "0}\n"
    ".advice li{margin:.35rem 0}\n"
    "figure{margin:0 0 .8rem}figcaption{margin-bottom:.7rem}\n"
    ".plot{display:grid;grid-template-columns:4.6rem minmax(0,1fr);grid-template-rows:13rem 1.5rem}\n"
    ".plot svg{width:100%;height:100%;background:var(--panel);border:1px solid "
    "var(--line);display:block;min-width:0}\n"
    ".plot .y,.plot .x{position:relative;font-size:.75rem;color:var(--soft)}.plot .x{grid-column:2}\n"
    ".y span{position:absolute;right:.4rem;transform:translateY(-50%);white-space:nowrap}\n"
    ".x span{position:absolute;top:.2rem;transform:translateX(-50%);white-space:nowrap}\n"
    ".x span.first{transform:none}.x span.last{transform:translateX(-100%)}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:.2rem .9rem;font-size:.8rem;margin:.5rem "
    "0;padding:0;list-style:none}\n"
    ".legend "
    "i{display:inline-block;width:.85em;height:.85em;margin-right:.35em;border-radius:2px;vertical-align:-."
    "05em}\n"
    ".scale{height:.7rem;max-width:16rem;border:1px solid var(--line)}\n"
    ".ends{display:flex;justify-content:space-between;max-width:16rem;font-size:.75rem;color:var(--soft)}\n"
    ".bars{display:grid;grid-template-columns:minmax(8rem,14rem) minmax(0,1fr);gap:.45rem "
    ".8rem;align-items:center}\n"
    ".bars svg{width:100%;height:1.5rem;display:block;background:var(--panel)}\n"
    "@media(max-width:40rem){body{padding:.6rem}section{padding:.7rem}.bars{grid-template-columns:minmax(0,"
    "1fr);gap:.15rem}"
    ".bars svg{margin-bottom:.5rem}.plot{grid-template-columns:3.9rem "
    "minmax(0,1fr)}dl{grid-template-columns:minmax(0,1fr)}"
    ".x .minor{display:none}}\n"
    "@media print{body{font-size:11px;max-width:none;padding:0}section{border:0;padding:0;break-inside:avoid}"
    "section.long{break-inside:auto}.wide{overflow:visible}.plot{grid-template-rows:10rem 1.5rem}"
    "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}\n";

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
    fprintf(f, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
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

void page_missing(FILE *f, const char *why) {
    fprintf(f, "<p class=\"missing\">%s</p>\n", why);
}
