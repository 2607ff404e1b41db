/**
 * @file tensor_cores.c
 * @brief Products of small matrices, and the mapping of their elements to the lanes of a warp.
 */
#include "tensor_cores.h"

#include "small_floats.h"

#include <string.h>

enum { ROWS = 16, DEPTH = 16, MMA_COLUMNS = 8, WMMA_COLUMNS = 16 };

static float number_of(uint16_t bits, enum simt_mma_element_type number)
{
    return number == SIMT_HALF ? half_bits_to_float(bits) : bfloat16_bits_to_float(bits);
}

/** Converts the two packed numbers of a word to floats and stores them `apart` elements apart. */
static void unpack(uint32_t word, enum simt_mma_element_type number, float *to, size_t apart)
{
    to[0] = number_of((uint16_t)word, number);
    to[apart] = number_of((uint16_t)(word >> 16), number);
}

void simt_complete_mma(const uint64_t lane_addresses[WARP_LANES], enum simt_mma_element_type type)
{
    float a[ROWS][DEPTH], b[DEPTH][MMA_COLUMNS], d[ROWS][MMA_COLUMNS];

    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        const struct mma_fragments *mine = (const struct mma_fragments *)(uintptr_t)lane_addresses[lane];
        const unsigned row = lane / 4, pair = lane % 4 * 2;

        for (unsigned i = 0; i < 4; i++)
            unpack(mine->a[i], type, &a[row + i % 2 * 8][pair + i / 2 * 8], 1);
        for (unsigned i = 0; i < 2; i++)
            unpack(mine->b[i], type, &b[pair + 8 * i][row], MMA_COLUMNS);
        for (unsigned i = 0; i < 4; i++)
            d[row + i / 2 * 8][pair + i % 2] = mine->d.value[i];
    }
    for (unsigned i = 0; i < ROWS; i++) {
        for (unsigned k = 0; k < DEPTH; k++) {
            for (unsigned j = 0; j < MMA_COLUMNS; j++)
                d[i][j] += a[i][k] * b[k][j];
        }
    }
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        struct mma_fragments *mine = (struct mma_fragments *)(uintptr_t)lane_addresses[lane];

        for (unsigned i = 0; i < 4; i++)
            mine->d.value[i] = d[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
    }
}

void simt_complete_wmma(const uint64_t lane_addresses[WARP_LANES], enum simt_mma_element_type type)
{
    float b[DEPTH][WMMA_COLUMNS];
    float d[WARP_LANES][WMMA_COLUMNS / 2];

    for (unsigned lane = 0; lane < WMMA_COLUMNS; lane++) {
        const struct wmma_fragments *mine = (const struct wmma_fragments *)(uintptr_t)lane_addresses[lane];

        for (unsigned k = 0; k < DEPTH; k++)
            b[k][lane] = number_of(mine->b[k], type);
    }
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        const struct wmma_fragments *mine = (const struct wmma_fragments *)(uintptr_t)lane_addresses[lane];

        memcpy(d[lane], mine->c, sizeof d[lane]);
        for (unsigned k = 0; k < DEPTH; k++) {
            const float a = number_of(mine->a[k], type);

            for (unsigned j = 0; j < WMMA_COLUMNS / 2; j++)
                d[lane][j] += a * b[k][lane / 16 * 8 + j];
        }
    }
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        memcpy(((const struct wmma_fragments *)(uintptr_t)lane_addresses[lane])->d, d[lane], sizeof d[lane]);
}

static const uint16_t *row_of(const uint64_t lanes[WARP_LANES], unsigned matrix, unsigned row)
{
    return ((const struct ldmatrix_lane_data *)(uintptr_t)lanes[8 * matrix + row])->row;
}

void simt_complete_ldmatrix(const uint64_t lane_addresses[WARP_LANES], unsigned num_matrices, bool transposed)
{
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        struct ldmatrix_lane_data *mine = (struct ldmatrix_lane_data *)(uintptr_t)lane_addresses[lane];
        const unsigned major = lane / 4, minor = lane % 4 * 2;

        for (unsigned matrix = 0; matrix < num_matrices; matrix++) {
            const uint16_t low = transposed ? row_of(lane_addresses, matrix, minor)[major]
                                            : row_of(lane_addresses, matrix, major)[minor];
            const uint16_t high = transposed ? row_of(lane_addresses, matrix, minor + 1)[major]
                                             : row_of(lane_addresses, matrix, major)[minor + 1];

            mine->fragments.word[matrix] = (uint32_t)high << 16 | low;
        }
    }
}
