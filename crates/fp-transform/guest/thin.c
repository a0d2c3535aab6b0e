/* Every second element of a line of f32, by global index: the region of the output is the guest's own to say.
 *
 * clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -o thin.wasm thin.c
 */
#include "flexpath_guest.h"

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

flexpath_u32 flexpath_transform(const flexpath_block *inputs, flexpath_u32 count, flexpath_block *output)
{
    if (count != 1 || inputs[0].dtype != FLEXPATH_F32 || inputs[0].ndims != 1)
        return 1;
    float *elements = (float *)inputs[0].data;
    flexpath_u64 start = inputs[0].start[0], end = start + inputs[0].count[0];
    flexpath_u64 first = (start + 1) / 2, last = (end + 1) / 2;
    /* In place: what is read lies never before what is written. */
    for (flexpath_u64 i = first; i < last; i++)
        elements[i - first] = elements[2 * i - start];
    output->data = inputs[0].data;
    output->dtype = FLEXPATH_F32;
    output->ndims = 1;
    output->start[0] = first;
    output->count[0] = last - first;
    output->len_bytes = (flexpath_u32)(last - first) * sizeof(float);
    return 0;
}
