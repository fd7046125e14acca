/* start_folder.h: the folder in which the program started. Relative names in settings belong to it, wherever the program goes later. */
#ifndef HEARTH_START_FOLDER_H
#define HEARTH_START_FOLDER_H

#include <stddef.h>

/* The absolute form of a name; the name itself, if it is absolute or the folder is unknown. */
void start_folder_path(const char *name, char *path, size_t room);

#endif
