/* data.h: operations on the elements of a node's shared memory. Other folders include this header only. */
#ifndef HEARTH_DATA_H
#define HEARTH_DATA_H

#include "data/accumulate.h"
#include "data/atomic.h"
#include "data/cursor.h"
#include "data/element.h"
#include "data/patch.h"
#include "data/rows.h"
#include "data/shape_wire.h"

#endif
