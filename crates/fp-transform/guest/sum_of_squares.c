/* The sum of the squares of a block of f64, as a block of one element: 16 MiB become 8 bytes.
 *
 * clang --target=wasm32 -O2 -msimd128 -nostdlib -Wl,--no-entry -o sum_of_squares.wasm sum_of_squares.c
 */
#include "flexpath_guest.h"

/* The first address behind the program's own data: the linker knows it. */
extern flexpath_u8 __heap_base;

void *flexpath_reserve(flexpath_u32 len_bytes)
{
    flexpath_u32 start = ((flexpath_u32)&__heap_base + 15) & ~15u;
    flexpath_u64 end = (flexpath_u64)start + len_bytes;
    flexpath_u64 has = (flexpath_u64)__builtin_wasm_memory_size(0) << 16;
    if (end > has && __builtin_wasm_memory_grow(0, (unsigned long)((end - has + 65535) >> 16)) == (unsigned long)-1)
        return 0;
    return (void *)start;
}

static double sum;

flexpath_u32 flexpath_transform(const flexpath_block *inputs, flexpath_u32 count, flexpath_block *output)
{
    if (count != 1 || inputs[0].dtype != FLEXPATH_F64)
        return 1;
    const double *elements = (const double *)inputs[0].data;
    flexpath_u32 len = inputs[0].len_bytes / sizeof(double);
    /* Sixteen sums at once, as each addition waits for the one before it; and 32 elements in a turn of the loop, as each turn
     * is counted and looks at the time. */
    double sums[16] = {0};
    flexpath_u32 i = 0;
    for (; i + 32 <= len; i += 32)
#pragma clang loop unroll(full)
        for (int lane = 0; lane < 32; lane++)
            sums[lane % 16] += elements[i + lane] * elements[i + lane];
    sum = 0;
    for (int lane = 0; lane < 16; lane++)
        sum += sums[lane];
    for (; i < len; i++)
        sum += elements[i] * elements[i];
    output->data = (flexpath_u32)&sum;
    output->len_bytes = sizeof sum;
    output->dtype = FLEXPATH_F64;
    return 0;
}
