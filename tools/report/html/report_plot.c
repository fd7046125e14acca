/* report_plot.c: see report_plot.h. */
#include "report/html/report_plot.h"

#include <math.h>

void plot_begin(FILE *f, const char *caption, bool is_square) {
    fprintf(f, "<figure><figcaption>%s</figcaption>\n<div class=\"plot%s\">\n<div class=\"y\">", caption,
            is_square ? " square" : "");
}

void plot_y_label(FILE *f, double from_top, const char *text) {
    fprintf(f, "<span style=\"top:%.2f%%\">%s</span>", 100 * from_top, text);
}

void plot_draw(FILE *f, double width, double height, const char *what) {
    fprintf(f,
            "</div>\n<svg viewBox=\"0 0 %.6g %.6g\" preserveAspectRatio=\"none\" role=\"img\" "
            "aria-label=\"%s\">\n",
            width, height, what);
}

void plot_grid_lines(FILE *f, double width, double height) {
    for (int i = 1; i < PLOT_TICKS - 1; i++)
        fprintf(f, "<path class=\"gridline\" d=\"M0 %.6gH%.6g\"/>\n", height * i / (PLOT_TICKS - 1), width);
}

void plot_drawn(FILE *f) {
    fputs("</svg>\n<div class=\"x\">", f);
}

void plot_x_label(FILE *f, double from_left, const char *text, bool is_minor) {
    const char *side = from_left < 0.04   ? " class=\"first\""
                       : from_left > 0.96 ? " class=\"last\""
                       : is_minor         ? " class=\"minor\""
                                          : "";
    fprintf(f, "<span%s style=\"left:%.2f%%\">%s</span>", side, 100 * from_left, text);
}

void plot_end(FILE *f) {
    fputs("</div>\n</div>\n</figure>\n", f);
}

static const char *const heat_names[] = {"cool", "warm"};

const char *heat_class(enum heat scale, double value) {
    static char text[24];
    int level = (int)(fmax(0, fmin(value, 1)) * (HEAT_LEVELS - 1) + 0.5);
    snprintf(text, sizeof text, "%s-%d", heat_names[scale], level);
    return text;
}

void heat_scale(FILE *f, enum heat scale, const char *low, const char *high) {
    fputs("<div class=\"scale\" style=\"background:linear-gradient(90deg", f);
    for (int i = 0; i < HEAT_LEVELS; i += 3)
        fprintf(f, ",var(--%s-%d)", heat_names[scale], i);
    fprintf(f, ")\"></div><div class=\"ends\"><span>%s</span><span>%s</span></div>\n", low, high);
}

void legend_item(FILE *f, const char *colour, int number, const char *text) {
    fprintf(f, "<li><i style=\"background:var(--%s-%d)\"></i>", colour, number);
    page_text(f, text);
    fputs("</li>", f);
}
