/* What a deployed transform exports, and how arrays lie in its memory. Version 1.
 *
 * A module is plain WebAssembly: no imports, one memory (exported as "memory"), and these two functions. All numbers are
 * little-endian; addresses are offsets into the memory. Each call, for one block, is a fresh instance: memory, globals
 * and tables are as the module says they are at first, and all other memory is zero. No call finds what another left.
 * See docs/transforms.md.
 */
#ifndef FLEXPATH_GUEST_H
#define FLEXPATH_GUEST_H

typedef unsigned char flexpath_u8;
typedef unsigned int flexpath_u32;
typedef unsigned long long flexpath_u64;

/* Element types: the numbers never change. */
enum {
    FLEXPATH_I8 = 1, FLEXPATH_I16 = 2, FLEXPATH_I32 = 3, FLEXPATH_I64 = 4,
    FLEXPATH_U8 = 5, FLEXPATH_U16 = 6, FLEXPATH_U32 = 7, FLEXPATH_U64 = 8,
    FLEXPATH_F16 = 9, FLEXPATH_BF16 = 10, FLEXPATH_F32 = 11, FLEXPATH_F64 = 12,
    FLEXPATH_C32 = 13, FLEXPATH_C64 = 14, FLEXPATH_BOOL = 15, FLEXPATH_STRING = 16, FLEXPATH_BYTES = 17
};

/* Which dimension runs fastest: the last one (C) or the first one (Fortran). */
enum { FLEXPATH_ROW_MAJOR = 0, FLEXPATH_COLUMN_MAJOR = 1 };

/* A block: a region of an array and its elements, dense. 152 bytes. */
typedef struct {
    flexpath_u32 data;      /* where the elements are, on 64 bytes */
    flexpath_u32 len_bytes; /* how many bytes they have: the product of count times the size of an element */
    flexpath_u32 dtype;
    flexpath_u32 order;
    flexpath_u32 ndims;     /* 0 to 8; 0 is a scalar */
    flexpath_u32 reserved;  /* 0 */
    flexpath_u64 start[8];  /* where the region begins in the whole array */
    flexpath_u64 count[8];  /* how many elements it has in each dimension */
} flexpath_block;

#define FLEXPATH_EXPORT(name) __attribute__((export_name(name)))

/* Room for so many bytes, on 16 bytes; 0 if there is none. Called before each transform. */
FLEXPATH_EXPORT("flexpath_reserve_1") void *flexpath_reserve(flexpath_u32 len_bytes);

/* From one block of each variable to one block. The output comes zeroed and is to be filled in, its elements lying
 * anywhere in the memory. Returns 0, or any other number to say that it failed. */
FLEXPATH_EXPORT("flexpath_transform_1")
flexpath_u32 flexpath_transform(const flexpath_block *inputs, flexpath_u32 count, flexpath_block *output);

#endif
