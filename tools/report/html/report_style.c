/* report_style.c: the style sheet of a page, light or dark as the reader's system prefers; print is always light.
 *
 * Marks name their colours by variables, which each scheme sets:
 *      --type-I    outcome I of a get              --series-I  curve or MPI call I
 *      --cool-I    level I of a heat map, cool     --warm-I    likewise, warm
 * A heat map's levels go away from the background, so that high values stand out in both schemes: the dark scheme
 * reverses the scales. */
#include "report/html/report_plot.h"

#include <math.h>

struct colour {
    double red, green, blue;
};

/* Light to dark, so that it also works without colour (ColorBrewer YlGnBu and YlOrRd). */
static const struct colour cool[] = {
    {255, 255, 204}, {161, 218, 180}, {65, 182, 196}, {44, 127, 184}, {37, 52, 148}};
static const struct colour warm[] = {
    {255, 255, 178}, {254, 204, 92}, {253, 141, 60}, {240, 59, 32}, {149, 0, 30}};

/* The colours of access_types and of the series are those of Okabe and Ito, which most people can distinguish; here brighter,
 * for a dark background. */
static const char *const dark_types[ACCESS_TYPES] = {"#4aa3df", "#8fd0f5", "#2fbf92", "#e8dd5a",
                                                     "#f0b030", "#f0793a", "#dd8fbb", "#7c8491"};
static const char *const light_series[SERIES] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#8a92a0"};
static const char *const dark_series[SERIES] = {"#4aa3df", "#f0793a", "#2fbf92", "#dd8fbb",
                                                "#f0b030", "#8fd0f5", "#7c8491"};

static const char light[] = "--ink:#1c2330;--soft:#5b6472;--line:#d9dde3;--back:#ffffff;--panel:#f7f8fa;";
static const char dark[] = "--ink:#e6e9ee;--soft:#a3adba;--line:#39424e;--back:#12161c;--panel:#1c222b;";

static const char rules[] =
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1.2rem;max-width:80rem;background:var(--back);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu "
    "Sans',sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;margin:.2rem 0}h2{font-size:1.1rem;margin:0 0 "
    ".6rem}h3{font-size:.95rem;margin:.8rem "
    "0 .3rem}\n"
    "section{margin:1.2rem 0;padding:1rem;border:1px solid var(--line);border-radius:.5rem;min-width:0}\n"
    ".pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1.2rem}\n"
    ".pair>*{min-width:0}.pair+.pair{margin-top:1.2rem}\n"
    ".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.6rem;margin:1rem 0}\n"
    ".facts div{background:var(--panel);border-radius:.4rem;padding:.5rem .7rem}\n"
    ".facts b{display:block;font-size:1.25rem;font-variant-numeric:tabular-nums}\n"
    ".facts span,.note,figcaption{color:var(--soft);font-size:.85rem}\n"
    "dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem 1rem;margin:0}\n"
    "dt{color:var(--soft)}dd{margin:0}code{font-size:.9em}\n"
    ".wide{overflow-x:auto;margin-top:.6rem}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.88rem}\n"
    "th,td{padding:.25rem .5rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\n"
    "th{color:var(--soft);font-weight:600}td.text,th.text{text-align:left}tr.sum td,tr.node "
    "td{font-weight:600}\n"
    "tr.node td{background:var(--panel)}td small{color:var(--soft);font-size:.78rem}\n"
    "td.name{white-space:normal;min-width:9rem}\n"
    ".missing{background:var(--panel);border-left:.25rem solid var(--line);padding:.5rem .8rem;margin:.3rem "
    "0}\n"
    ".advice li{margin:.35rem 0}\n"
    "figure{margin:0 0 .8rem}figcaption{margin-bottom:.7rem}\n"
    ".plot{display:grid;grid-template-columns:4.6rem minmax(0,1fr);grid-template-rows:13rem 1.5rem}\n"
    ".plot.square{grid-template-rows:26rem 1.5rem}\n"
    ".plot svg{width:100%;height:100%;background:var(--panel);border:1px solid "
    "var(--line);display:block;min-width:0}\n"
    ".plot .y,.plot .x{position:relative;font-size:.75rem;color:var(--soft)}.plot .x{grid-column:2}\n"
    ".y span{position:absolute;right:.4rem;transform:translateY(-50%);white-space:nowrap}\n"
    ".x span{position:absolute;top:.2rem;transform:translateX(-50%);white-space:nowrap}\n"
    ".x span.first{transform:none}.x span.last{transform:translateX(-100%)}\n"
    ".gridline{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}\n"
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
    ".bars rect{stroke:var(--back);stroke-width:1;vector-effect:non-scaling-stroke}\n"
    ".bars.slim{gap:.2rem .8rem;font-size:.85rem}.bars.slim svg{height:1.1rem}\n"
    ".bars h3{grid-column:1/-1}.bars .x{grid-column:2;position:relative;height:1.4rem;font-size:.75rem;"
    "color:var(--soft)}\n"
    "@media(max-width:40rem){body{padding:.6rem}section{padding:.7rem}.bars,.bars.slim{grid-template-columns:"
    "minmax(0,1fr);gap:.15rem}"
    ".bars svg{margin-bottom:.5rem}.bars .x{grid-column:1}.plot{grid-template-columns:3.9rem "
    "minmax(0,1fr)}.plot.square{grid-template-rows:18rem 1.5rem}dl{grid-template-columns:minmax(0,1fr)}"
    ".x .minor{display:none}}\n"
    "@media print{body{font-size:11px;max-width:none;padding:0}section{border:0;padding:0;break-inside:avoid}"
    "section.long{break-inside:auto}.wide{overflow:visible}.plot{grid-template-rows:10rem 1.5rem}"
    "*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}\n";

static void put_level(FILE *f, const char *name, const struct colour *scale, int level, bool is_reversed) {
    double at = 4.0 * (is_reversed ? HEAT_LEVELS - 1 - level : level) / (HEAT_LEVELS - 1);
    int i = at >= 4 ? 3 : (int)at;
    double part = at - i;
    const struct colour *a = &scale[i], *b = &scale[i + 1];
    fprintf(f, "--%s-%d:#%02x%02x%02x;", name, level, (unsigned)(a->red + part * (b->red - a->red) + 0.5),
            (unsigned)(a->green + part * (b->green - a->green) + 0.5),
            (unsigned)(a->blue + part * (b->blue - a->blue) + 0.5));
}

static void put_scheme(FILE *f, bool is_dark) {
    fprintf(f, ":root{%s\n", is_dark ? dark : light);
    for (int i = 0; i < ACCESS_TYPES; i++)
        fprintf(f, "--type-%d:%s;", i, is_dark ? dark_types[i] : access_types[i].colour);
    for (int i = 0; i < SERIES; i++)
        fprintf(f, "--series-%d:%s;", i, (is_dark ? dark_series : light_series)[i]);
    putc('\n', f);
    for (int i = 0; i < HEAT_LEVELS; i++) {
        put_level(f, "cool", cool, i, is_dark);
        put_level(f, "warm", warm, i, is_dark);
    }
    fputs("}\n", f);
}

void page_style(FILE *f) {
    fputs("<style>\n:root{color-scheme:light dark}\n", f);
    put_scheme(f, false);
    fputs("@media screen and (prefers-color-scheme:dark){\n", f);
    put_scheme(f, true);
    fputs("}\n", f);
    for (int i = 0; i < HEAT_LEVELS; i++)
        fprintf(f, ".cool-%d{fill:var(--cool-%d)}.warm-%d{fill:var(--warm-%d)}", i, i, i, i);
    fprintf(f, "\n%s</style>\n", rules);
}
