/* watch.h: tells the user if a script has ended without any of its launchers having run with Hearth. */
#ifndef HEARTH_TOOLS_WATCH_H
#define HEARTH_TOOLS_WATCH_H

/* In the process that becomes the script: notes in `folder`, that of the links, that this process waits for a launcher, and starts a
 * watcher that outlives it. Without memory or processes nothing is watched. */
void watch_script(const char *folder, const char *script);

/* In a launcher that was called through a link of `folder`: the script that called it has one. */
void watch_saw_launcher(const char *folder);

#endif
