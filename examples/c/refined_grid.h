/* What the refined grid and its analysis have in common. */
#ifndef REFINED_GRID_H
#define REFINED_GRID_H
#include <stdint.h>

/* Cells along a side of a box, components of a cell, boxes along a side of each level. */
enum { BOX = 32, COMPONENTS = 10, COARSE_BOXES = 2, FINE_BOXES = 4 };

/* The levels, as docs/conventions.md names them. */
#define COARSE "cells"
#define FINE "cells_lvl1"

/* The last component: where and when a cell is, as one number that a double holds exactly. */
static inline double marker(uint64_t step, int level, uint64_t z, uint64_t y, uint64_t x)
{
    const uint64_t side = FINE_BOXES * BOX;
    return (double)((((step * 2 + (uint64_t)level) * side + z) * side + y) * side + x);
}

#endif
