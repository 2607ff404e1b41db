/**
 * @file exercise.cu
 * @brief 11b_tail_of_k: a matrix product, computed in tiles.
 *
 * Fix the code between // TODO and // END; leave the rest unchanged.
 */
#include "exercise.h"

enum { TILE = 16, K_STEP = 32, THREADS = TILE * TILE };

// TODO pitch
// PITCH is the number of words in each tile[k]. Should it equal the number of rows?
enum { PITCH = TILE };
// END pitch

/** Loads elements first_k to first_k + K_STEP - 1 of TILE rows, starting at first_row. Sets missing elements to 0. */
static __device__ void load_tile(float (&tile)[K_STEP][PITCH], const float *from, int first_row, int num_rows,
                                 int length, int first_k)
{
    for (int i = threadIdx.x; i < TILE * K_STEP; i += THREADS) {
        const int row = i / K_STEP, k = i % K_STEP;

        // TODO load
        // Load element first_k + k of row first_row + row.
        const bool exists = first_row + row < num_rows;

        tile[k][row] = exists ? from[(first_row + row) * length + first_k + k] : 0.0f;
        // END load
    }
}

/** Multiplies rows by weights. Grid: x is a tile of TILE rows, y a tile of TILE columns. */
static __global__ void product_kernel(const float *rows, const float *weights, int num_rows, int num_columns,
                                      int length, float *out)
{
    __shared__ float row_tile[K_STEP][PITCH], column_tile[K_STEP][PITCH];
    const int row = threadIdx.x / TILE, column = threadIdx.x % TILE;
    float sum = 0.0f;

    // TODO steps
    // One step processes K_STEP elements. Which threads must wait for which other threads, and when?
    for (int k = 0; k + K_STEP <= length; k += K_STEP) {
        load_tile(row_tile, rows, blockIdx.x * TILE, num_rows, length, k);
        load_tile(column_tile, weights, blockIdx.y * TILE, num_columns, length, k);
        __syncthreads();
        for (int i = 0; i < K_STEP; i++)
            sum += row_tile[i][row] * column_tile[i][column];
    }
    // END steps

    const int r = blockIdx.x * TILE + row, c = blockIdx.y * TILE + column;

    if (r < num_rows && c < num_columns)
        out[r * num_columns + c] = sum;
}

cudaError_t product_launch(const float *rows, const float *weights, int num_rows, int num_columns, int length,
                           float *out)
{
    const dim3 grid((unsigned)(num_rows + TILE - 1) / TILE, (unsigned)(num_columns + TILE - 1) / TILE);

    product_kernel<<<grid, THREADS>>>(rows, weights, num_rows, num_columns, length, out);
    return cudaGetLastError();
}
