/* report_plot.h: the parts of charts: frames with labels, the colours of heat maps.
 *
 * A drawing is stretched to the available width (preserveAspectRatio none), so it contains no text: labels stand
 * beside it, positioned by percentages. */
#ifndef HEARTH_TOOLS_REPORT_PLOT_H
#define HEARTH_TOOLS_REPORT_PLOT_H

#include "report/html/report_page.h"

enum { PLOT_HIGH = 1000, PLOT_TICKS = 5, HEAT_LEVELS = 16, SERIES = 7 };

/* A plot: plot_begin, labels of the y axis, plot_draw, the marks, plot_drawn, labels of the x axis, plot_end. */
void plot_begin(FILE *f, const char *caption, bool is_square);
void plot_y_label(FILE *f, double from_top, const char *text);
void plot_draw(FILE *f, double width, double height, const char *what);
void plot_grid_lines(FILE *f, double width, double height); /* at the positions of PLOT_TICKS labels */
void plot_drawn(FILE *f);
void plot_x_label(FILE *f, double from_left, const char *text,
                  bool is_minor); /* minor: hidden on a narrow page */
void plot_end(FILE *f);

/* The class of a heat map's cell, "cool-3"; value from 0 to 1. */
enum heat { HEAT_COOL, HEAT_WARM };
const char *heat_class(enum heat scale, double value);
void heat_scale(FILE *f, enum heat scale, const char *low, const char *high);

/* Item of a legend; colour: a variable without its dashes. */
void legend_item(FILE *f, const char *colour, int number, const char *text);

#endif
