// The loss of UDEED's descent and its gradient on a card. With scores z_k = w_k.x and outputs f_k = tanh(z_k / 2):
//
//   S = sum_k f_k,  V_div = sum_rows S^2 - sum_k f_k^2,  dV_div/dw_k = 2 sum_rows (S - f_k)(1 - f_k^2) / 2 x
//
// Two ways, of which `descent.rs` takes the first where it can:
//   fused_*   diversity of up to 112 members on up to 64 features with the constant: one walk on tensor cores, nothing of size
//             rows x members is stored. One warp owns 16 members for both products: it computes scores as [members x rows], whose
//             accumulator layout is the operand of the second product, so derivatives stay in registers.
//             `single`: every factor is split into two halves (22 bits), three products; `double`: in doubles.
//   scores, derivatives, gradient
//             any number of members and features, any loss: scores of a slab of rows, in their place derivatives, their product
//             with the rows.
//
// The same bits on the same card: no atomics, tiles go to blocks in a fixed way, blocks are added in their order, and the build
// does not contract products and sums: what is fused is written `fma`.
#ifdef UDEED_EMULATION
#include "emulation.h"
#else
typedef unsigned int uint32_t;
#endif

typedef long long Rows;
typedef unsigned short Half; // 16 bits, IEEE

#ifdef UDEED_EMULATION
#define memory (block->memory)
#else
extern __shared__ __align__(128) unsigned char memory[];
__device__ __forceinline__ uint32_t shared_address(const void* p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(uint32_t to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(from));
}
__device__ __forceinline__ void copy_commit() { asm volatile("cp.async.commit_group;\n"); }
__device__ __forceinline__ void copy_wait() { asm volatile("cp.async.wait_group 0;\n" ::: "memory"); }
__device__ __forceinline__ void ldsm4(uint32_t (&r)[4], uint32_t a) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\n" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a));
}
__device__ __forceinline__ void ldsm4t(uint32_t (&r)[4], uint32_t a) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\n" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a));
}
__device__ __forceinline__ void mma16(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void mma8(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t b0) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(b0));
}
// A (16 x 8): {(g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)}; B (8 x 8): {(t, g), (t + 4, g)}; C: rows g and g + 8, columns 2t, 2t + 1.
__device__ __forceinline__ void dmma(double (&c)[4], double a0, double a1, double a2, double a3, double b0, double b1) {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
}
// Two floats, rounded to halves, the first in the lower bits; and the other way round.
__device__ __forceinline__ uint32_t pack_halves(float a, float b) {
    uint32_t h;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(h) : "f"(b), "f"(a));
    return h;
}
__device__ __forceinline__ float2 unpack_halves(uint32_t h) {
    float a, b;
    asm("{.reg .b16 x, y;\n mov.b32 {x, y}, %2;\n cvt.f32.f16 %0, x;\n cvt.f32.f16 %1, y;}" : "=f"(a), "=f"(b) : "r"(h));
    return make_float2(a, b);
}
__device__ __forceinline__ float exp2_fast(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ float recip_fast(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
__device__ __forceinline__ double recip_double(double x) { double y; asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x)); return y; }
#endif

// tanh(z / 2) = e / (e + 2) with e = e^|z| - 1, by the same series as on the processor; no branches.
__device__ __forceinline__ double tanh_half(double z) {
    double a = fmin(fabs(z), 700.);
    double shifted = fma(a, 1.4426950408889634, 6755399441055744.);
    double k = shifted - 6755399441055744.;
    double r = fma(k, -1.9082149292705877e-10, fma(k, -6.931471803691238e-1, a));
    double p = 1. / 6227020800.;
    p = fma(p, r, 1. / 479001600.);
    p = fma(p, r, 1. / 39916800.);
    p = fma(p, r, 1. / 3628800.);
    p = fma(p, r, 1. / 362880.);
    p = fma(p, r, 1. / 40320.);
    p = fma(p, r, 1. / 5040.);
    p = fma(p, r, 1. / 720.);
    p = fma(p, r, 1. / 120.);
    p = fma(p, r, 1. / 24.);
    p = fma(p, r, 1. / 6.);
    p = fma(p, r, 1. / 2.);
    p = fma(p, r, 1.);
    double power = __hiloint2double((__double2loint(shifted) + 1023) << 20, 0);
    double e = fma(power, p * r, power - 1.);
    double d = e + 2., i = recip_double(d);
    i = fma(fma(-d, i, 1.), i, i);
    i = fma(fma(-d, i, 1.), i, i);
    double y = e * i;
    y = fma(fma(-y, d, e), i, y);
    return copysign(y, z);
}

// tanh(z / 2) of z = u / log2(e): right to the last digits of 1; and near 0, below 0.25, to the last digits of itself.
__device__ __forceinline__ float tanh_half_absolute(float u) { return fmaf(-2.f, recip_fast(1.f + exp2_fast(u)), 1.f); }
__device__ __forceinline__ float tanh_half_near_0(float u) {
    float t = u * 0.34657359028f, s = t * t;
    float p = 0.021869489f;
    p = fmaf(p, s, -0.053968254f);
    p = fmaf(p, s, 0.13333334f);
    p = fmaf(p, s, -0.33333334f);
    return fmaf(p * s, t, t);
}
__device__ __forceinline__ float tanh_half(float z) {
    float u = z * 1.44269504f;
    return fabsf(u) < 0.7f ? tanh_half_near_0(u) : tanh_half_absolute(u);
}

// ln(1 + e^-|z|).
__device__ __forceinline__ double softplus_of_minus(double z) { return log1p(exp(-fabs(z))); }
__device__ __forceinline__ float softplus_of_minus(float z) { return log1pf(expf(-fabsf(z))); }

// Two floats as halves, and what the halves miss as halves.
__device__ __forceinline__ void split(float a, float b, uint32_t& hi, uint32_t& lo) {
    hi = pack_halves(a, b);
    float2 back = unpack_halves(hi);
    lo = pack_halves(a - back.x, b - back.y);
}

// Lanes that differ in one bit each keep one half of 2 * HALF sums, and get from the other what it has for that half.
template <int HALF, typename T, int N> __device__ __forceinline__ void swap_halves(T (&v)[N], bool upper, int bit) {
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        T mine = upper ? v[i + HALF] : v[i], theirs = upper ? v[i] : v[i + HALF];
        v[i] = mine + __shfl_xor_sync(~0u, theirs, bit);
    }
}

__device__ __forceinline__ double warp_sum(double x) {
    for (int bit = 16; bit; bit >>= 1) x += __shfl_xor_sync(~0u, x, bit);
    return x;
}

// ---------------------------------------------------------------------------------------------------------------------
// fused_single: tiles of 64 rows. KG groups of 8 features; rows lie KG | 1 chunks of 16 bytes apart, so that no bank is met
// twice. w: [heads][warps * 16][KG * 8]. Halves have a narrow range: the caller scales each column of x, the weights and the
// derivatives by powers of two, which is exact; `unit` turns scores into exponents of 2.
constexpr int R = 64;
constexpr int FLUSH = 8; // tiles after which the gradient of a block in floats is added to its one in doubles

template <int KG>
__device__ __forceinline__ void fused_single(const Half* __restrict__ xh, const Half* __restrict__ xl, int tiles, const float* __restrict__ w,
                                             float w_scale, float unit, float d_scale, float* __restrict__ g_part, double* __restrict__ v_part) {
    constexpr int KS = KG | 1, TILE = R * KS * 16; // TILE: bytes of one tile of halves
    const int threads = blockDim.x, warps = threads >> 5;
    float* sums = reinterpret_cast<float*>(memory + 4 * TILE);                       // [2][warps][R]
    double* wide = reinterpret_cast<double*>(memory + 4 * TILE + 2 * warps * R * 4); // [KG * 4][threads]
    const int tid = threadIdx.x, warp = tid >> 5, lane = tid & 31, g = lane >> 2, t = lane & 3;
    w += (size_t)blockIdx.y * warps * 16 * KG * 8;

    uint32_t wh[KG][2], wl[KG][2];
#pragma unroll
    for (int k = 0; k < KG; k++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const float* p = w + (warp * 16 + g + 8 * h) * (KG * 8) + k * 8 + 2 * t;
            split(p[0] * w_scale, p[1] * w_scale, wh[k][h], wl[k][h]);
        }
    float grad[KG][4];
#pragma unroll
    for (int k = 0; k < KG; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) { grad[k][i] = 0.f; wide[(k * 4 + i) * threads + tid] = 0.; }

    const uint32_t base = shared_address(memory);
    auto load = [&](int tile, int stage) {
        const char* h = reinterpret_cast<const char*>(xh) + (size_t)tile * TILE;
        const char* l = reinterpret_cast<const char*>(xl) + (size_t)tile * TILE;
        for (int c = tid; c < TILE / 16; c += threads) {
            copy16(base + stage * 2 * TILE + c * 16, h + c * 16);
            copy16(base + stage * 2 * TILE + TILE + c * 16, l + c * 16);
        }
    };
    // Where this lane's row lies, for four matrices at a time: {high, low} of one group of features, {high, low} of the next.
    const uint32_t at = ((lane >> 4) & 1) * 16 + ((lane >> 3) & 1) * TILE + (lane & 7) * KS * 16;
    // For the second product: {high rows 0-7, high rows 8-15, low 0-7, low 8-15}, transposed.
    const uint32_t at_t = ((lane >> 4) & 1) * TILE + ((lane >> 3) & 1) * 8 * KS * 16 + (lane & 7) * KS * 16;

    double value = 0.;
    int stage = 0, since = 0, parity = 0;
    if ((int)blockIdx.x < tiles) load(blockIdx.x, 0);
    copy_commit();
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        copy_wait();
        __syncthreads(); // this tile is here, and everybody has left the other stage
        if (tile + (int)gridDim.x < tiles) load(tile + gridDim.x, stage ^ 1);
        copy_commit();
        const uint32_t x = base + stage * 2 * TILE;

        // Scores of two groups of eight rows at a time; outputs in their place.
        float f[R / 8][4];
        float squares = 0.f;
#pragma unroll
        for (int p = 0; p < R / 16; p++) {
#pragma unroll
            for (int e = 0; e < 2; e++)
#pragma unroll
                for (int i = 0; i < 4; i++) f[2 * p + e][i] = 0.f;
#pragma unroll
            for (int s = 0; s < (KG + 1) / 2; s++) {
                uint32_t b[2][4];
#pragma unroll
                for (int e = 0; e < 2; e++) ldsm4(b[e], x + at + (2 * p + e) * 8 * KS * 16 + s * 32);
                const int k = 2 * s;
                if (k + 1 < KG) {
#pragma unroll
                    for (int e = 0; e < 2; e++) mma16(f[2 * p + e], wh[k][0], wh[k][1], wh[(k + 1) % KG][0], wh[(k + 1) % KG][1], b[e][1], b[e][3]);
#pragma unroll
                    for (int e = 0; e < 2; e++) mma16(f[2 * p + e], wl[k][0], wl[k][1], wl[(k + 1) % KG][0], wl[(k + 1) % KG][1], b[e][0], b[e][2]);
#pragma unroll
                    for (int e = 0; e < 2; e++) mma16(f[2 * p + e], wh[k][0], wh[k][1], wh[(k + 1) % KG][0], wh[(k + 1) % KG][1], b[e][0], b[e][2]);
                } else { // the last group alone; what was read beside it does not count
#pragma unroll
                    for (int e = 0; e < 2; e++) mma8(f[2 * p + e], wh[k][0], wh[k][1], b[e][1]);
#pragma unroll
                    for (int e = 0; e < 2; e++) mma8(f[2 * p + e], wl[k][0], wl[k][1], b[e][0]);
#pragma unroll
                    for (int e = 0; e < 2; e++) mma8(f[2 * p + e], wh[k][0], wh[k][1], b[e][0]);
                }
            }
            // Where one output is not near 0, the errors of those beside it are small beside it: the series is for rows where all are.
            float most = 0.f;
#pragma unroll
            for (int e = 0; e < 2; e++)
#pragma unroll
                for (int i = 0; i < 4; i++) most = fmaxf(most, fabsf(f[2 * p + e][i]));
            if (most * unit < 0.18f) {
#pragma unroll
                for (int e = 0; e < 2; e++)
#pragma unroll
                    for (int i = 0; i < 4; i++) f[2 * p + e][i] = tanh_half_near_0(f[2 * p + e][i] * unit);
            } else {
#pragma unroll
                for (int e = 0; e < 2; e++)
#pragma unroll
                    for (int i = 0; i < 4; i++) f[2 * p + e][i] = tanh_half_absolute(f[2 * p + e][i] * unit);
            }
#pragma unroll
            for (int e = 0; e < 2; e++)
#pragma unroll
                for (int i = 0; i < 4; i++) squares = fmaf(f[2 * p + e][i], f[2 * p + e][i], squares);
        }
        // Row sums over the 16 members: halves are swapped between lanes, so lane l ends with rows 2l and 2l + 1.
        float v[16];
#pragma unroll
        for (int j = 0; j < 8; j++) { v[2 * j] = f[j][0] + f[j][2]; v[2 * j + 1] = f[j][1] + f[j][3]; }
        swap_halves<8>(v, lane & 16, 16);
        swap_halves<4>(v, lane & 8, 8);
        swap_halves<2>(v, lane & 4, 4);
        float* row_sums = sums + parity * warps * R;
        *reinterpret_cast<float2*>(row_sums + warp * R + 2 * lane) = make_float2(v[0], v[1]);
        __syncthreads();
        float2 total = make_float2(0.f, 0.f);
        for (int m = 0; m < warps; m++) {
            float2 part = *reinterpret_cast<float2*>(row_sums + m * R + 2 * lane);
            total.x += part.x;
            total.y += part.y;
        }
        value -= (double)squares;
        if (warp == 0) value += (double)total.x * (double)total.x + (double)total.y * (double)total.y;

        total.x *= d_scale;
        total.y *= d_scale;

        // Derivatives in the registers, split, against the rows.
#pragma unroll
        for (int p = 0; p < R / 16; p++) {
            uint32_t dh[4], dl[4];
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float sx = __shfl_sync(~0u, total.x, (2 * p + e) * 4 + t), sy = __shfl_sync(~0u, total.y, (2 * p + e) * 4 + t);
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    float a = f[2 * p + e][2 * h], b = f[2 * p + e][2 * h + 1];
                    split(fmaf(-d_scale, a, sx) * fmaf(-a, a, 1.f), fmaf(-d_scale, b, sy) * fmaf(-b, b, 1.f), dh[2 * e + h], dl[2 * e + h]);
                }
            }
#pragma unroll
            for (int k = 0; k < KG; k++) {
                uint32_t b[4];
                ldsm4t(b, x + at_t + p * 16 * KS * 16 + k * 16);
                mma16(grad[k], dh[0], dh[1], dh[2], dh[3], b[2], b[3]);
                mma16(grad[k], dl[0], dl[1], dl[2], dl[3], b[0], b[1]);
                mma16(grad[k], dh[0], dh[1], dh[2], dh[3], b[0], b[1]);
            }
        }
        if (++since == FLUSH) {
            since = 0;
#pragma unroll
            for (int k = 0; k < KG; k++)
#pragma unroll
                for (int i = 0; i < 4; i++) { wide[(k * 4 + i) * threads + tid] += (double)grad[k][i]; grad[k][i] = 0.f; }
        }
        stage ^= 1;
        parity ^= 1;
    }
    // [grid][heads][warps * 16][KG * 8]
    const size_t own = (size_t)blockIdx.x * gridDim.y + blockIdx.y;
    float* out = g_part + own * (warps * 16 * KG * 8);
#pragma unroll
    for (int k = 0; k < KG; k++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float a = (float)(wide[(k * 4 + 2 * h) * threads + tid] + (double)grad[k][2 * h]);
            float b = (float)(wide[(k * 4 + 2 * h + 1) * threads + tid] + (double)grad[k][2 * h + 1]);
            *reinterpret_cast<float2*>(out + (warp * 16 + g + 8 * h) * (KG * 8) + k * 8 + 2 * t) = make_float2(a, b);
        }
    value = warp_sum(value);
    if (lane == 0) v_part[own * warps + warp] = value;
}

// ---------------------------------------------------------------------------------------------------------------------
// fused_double: tiles of 32 rows. x: [tiles * 32][KG * 8]. The weights lie in shared memory in the order of the operands.
constexpr int RD = 32;
constexpr int PAD = 4;

template <int KG>
__device__ __forceinline__ void fused_double(const double* __restrict__ xs, int tiles, const double* __restrict__ w, double* __restrict__ g_part,
                                             double* __restrict__ v_part) {
    constexpr int WIDTH = KG * 8, S = WIDTH + PAD;
    const int threads = blockDim.x, warps = threads >> 5;
    double* x0 = reinterpret_cast<double*>(memory);
    double* ws = x0 + 2 * RD * S;            // [warps][KG][32][4]
    double* sums = ws + warps * KG * 32 * 4; // [2][warps][RD]
    const int tid = threadIdx.x, warp = tid >> 5, lane = tid & 31, g = lane >> 2, t = lane & 3;
    w += (size_t)blockIdx.y * warps * 16 * WIDTH;
#pragma unroll
    for (int k = 0; k < KG; k++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            ws[((warp * KG + k) * 32 + lane) * 4 + i] = w[(warp * 16 + g + 8 * (i & 1)) * WIDTH + k * 8 + t + 4 * (i >> 1)];
    double grad[KG][4];
#pragma unroll
    for (int k = 0; k < KG; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) grad[k][i] = 0.;
    const uint32_t base = shared_address(memory);
    auto load = [&](int tile, int stage) {
        const char* from = reinterpret_cast<const char*>(xs) + (size_t)tile * RD * WIDTH * 8;
        for (int c = tid; c < RD * WIDTH / 2; c += threads) {
            int row = c / (WIDTH / 2), col = c % (WIDTH / 2);
            copy16(base + (stage * RD + row) * S * 8 + col * 16, from + c * 16);
        }
    };
    double value = 0.;
    int stage = 0;
    if ((int)blockIdx.x < tiles) load(blockIdx.x, 0);
    copy_commit();
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        copy_wait();
        __syncthreads();
        if (tile + (int)gridDim.x < tiles) load(tile + gridDim.x, stage ^ 1);
        copy_commit();
        const double* x = x0 + stage * RD * S;
        double f[RD / 8][4];
#pragma unroll
        for (int j = 0; j < RD / 8; j++)
#pragma unroll
            for (int i = 0; i < 4; i++) f[j][i] = 0.;
#pragma unroll
        for (int k = 0; k < KG; k++) {
            const double2* a = reinterpret_cast<const double2*>(ws + ((warp * KG + k) * 32 + lane) * 4);
            double2 a01 = a[0], a23 = a[1];
#pragma unroll
            for (int j = 0; j < RD / 8; j++) {
                const double* b = x + (j * 8 + g) * S + k * 8 + t;
                dmma(f[j], a01.x, a01.y, a23.x, a23.y, b[0], b[4]);
            }
        }
        double squares = 0.;
#pragma unroll
        for (int j = 0; j < RD / 8; j++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                double y = tanh_half(f[j][i]);
                f[j][i] = y;
                squares = fma(y, y, squares);
            }
        // Row sums: eight values a lane, rows 8j + 2t + (i & 1) with i = 2j + odd; lane l ends with i = g.
        double v[8];
#pragma unroll
        for (int j = 0; j < 4; j++) { v[2 * j] = f[j][0] + f[j][2]; v[2 * j + 1] = f[j][1] + f[j][3]; }
        swap_halves<4>(v, lane & 16, 16);
        swap_halves<2>(v, lane & 8, 8);
        swap_halves<1>(v, lane & 4, 4);
        double* row_sums = sums + stage * warps * RD;
        row_sums[warp * RD + lane] = v[0]; // in the order of lanes
        __syncthreads();
        double total = 0.;
        for (int m = 0; m < warps; m++) total += row_sums[m * RD + lane];
        value -= squares;
        if (warp == 0) value = fma(total, total, value);
#pragma unroll
        for (int j = 0; j < RD / 8; j++) {
            double sx = __shfl_sync(~0u, total, (2 * j) * 4 + t), sy = __shfl_sync(~0u, total, (2 * j + 1) * 4 + t);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                double y = f[j][i];
                f[j][i] = ((i & 1 ? sy : sx) - y) * fma(-y, y, 1.);
            }
#pragma unroll
            for (int k = 0; k < KG; k++) {
                const double* b = x + (j * 8 + 2 * t) * S + k * 8 + g;
                dmma(grad[k], f[j][0], f[j][2], f[j][1], f[j][3], b[0], b[S]);
            }
        }
        stage ^= 1;
    }
    const size_t own = (size_t)blockIdx.x * gridDim.y + blockIdx.y;
    double* out = g_part + own * (warps * 16 * WIDTH);
#pragma unroll
    for (int k = 0; k < KG; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) out[(warp * 16 + g + 8 * (i >> 1)) * WIDTH + k * 8 + 2 * t + (i & 1)] = grad[k][i];
    value = warp_sum(value);
    if (lane == 0) v_part[own * warps + warp] = value;
}

// ---------------------------------------------------------------------------------------------------------------------
// Any number of members and features. Rows come in multiples of 64, those after the last one all zero; lanes are the members of
// all heads, and come in multiples of 64.
constexpr int SIDE = 64;   // of a tile of results
constexpr int DEPTH = 16;  // of the products that are added at a time
constexpr int EACH = 4;    // results of a thread in each direction
constexpr int SKEW = SIDE + 4;

template <typename T> __device__ __forceinline__ T fused_multiply_add(T a, T b, T c);
template <> __device__ __forceinline__ double fused_multiply_add(double a, double b, double c) { return fma(a, b, c); }
template <> __device__ __forceinline__ float fused_multiply_add(float a, float b, float c) { return fmaf(a, b, c); }

template <typename T> __device__ __forceinline__ void multiply(const T* a, const T* b, int a_stride, T (&sums)[EACH][EACH]) {
    const int across = (threadIdx.x & 15) * EACH, down = (threadIdx.x >> 4) * EACH;
#pragma unroll
    for (int j = 0; j < DEPTH; j++) {
        T left[EACH], right[EACH];
#pragma unroll
        for (int i = 0; i < EACH; i++) { left[i] = a[j * a_stride + down + i]; right[i] = b[j * SIDE + across + i]; }
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int k = 0; k < EACH; k++) sums[i][k] = fused_multiply_add(left[i], right[k], sums[i][k]);
    }
}

// z[row][lane] = sum_j x[row][j] w[j][lane]. Grid: rows / 64, lanes / 64; 256 threads.
template <typename T>
__device__ __forceinline__ void scores(const T* __restrict__ x, int width, const T* __restrict__ w, int lanes, T* __restrict__ z) {
    T* xs = reinterpret_cast<T*>(memory); // [DEPTH][SKEW]
    T* ws = xs + DEPTH * SKEW;            // [DEPTH][SIDE]
    const int tid = threadIdx.x, lane0 = blockIdx.y * SIDE;
    const Rows row0 = (Rows)blockIdx.x * SIDE;
    T sums[EACH][EACH] = {};
    for (int j0 = 0; j0 < width; j0 += DEPTH) {
#pragma unroll
        for (int q = 0; q < SIDE * DEPTH / 256; q++) {
            int e = tid + 256 * q, row = e / DEPTH, j = e % DEPTH;
            xs[j * SKEW + row] = j0 + j < width ? x[(row0 + row) * width + j0 + j] : T(0);
            int jw = e / SIDE, k = e % SIDE;
            ws[jw * SIDE + k] = j0 + jw < width ? w[(size_t)(j0 + jw) * lanes + lane0 + k] : T(0);
        }
        __syncthreads();
        multiply(xs, ws, SKEW, sums);
        __syncthreads();
    }
    const int across = (tid & 15) * EACH, down = (tid >> 4) * EACH;
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int k = 0; k < EACH; k++) z[(row0 + down + i) * lanes + lane0 + across + k] = sums[i][k];
}

// Empirical losses, as `loss.rs` numbers them.
enum { LOGISTIC = 1, SQUARED = 2, HINGE = 3 };

// In place of the scores the derivatives of `share * sum_k loss(f_k, y)` and `agreement * (S^2 - sum_k f_k^2) / 2`; and the sums of
// losses and of S^2 - sum_k f_k^2. A warp a row and head; `first` is the number of the first row, of `n` in all. v_part: losses of all
// warps, then diversities.
template <typename T>
__device__ __forceinline__ void derivatives(T* __restrict__ z, Rows first, Rows here, Rows n, int lanes, int m, int heads, int loss, double share,
                                            int diverse, double agreement, const double* __restrict__ targets, const double* __restrict__ counts, int again,
                                            double* __restrict__ v_part) {
    const int lane = threadIdx.x & 31, warps = (int)(gridDim.x * (blockDim.x >> 5)), warp = (int)(blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5));
    double empirical = 0., diversity = 0.;
    for (Rows q = warp; q < here * heads; q += warps) {
        const Rows row = q / heads;
        const int head = (int)(q % heads);
        T* own = z + row * lanes + (Rows)head * m;
        if (first + row >= n) {
            for (int k = lane; k < m; k += 32) own[k] = T(0);
            continue;
        }
        const T y = loss ? (T)targets[(first + row) * heads + head] : T(0);
        const double count = loss ? counts[first + row] : 0.;
        T sum = 0, squares = 0, losses = 0;
        for (int k = lane; k < m; k += 32) {
            T s = own[k], f = tanh_half(s);
            if (loss == LOGISTIC) losses += softplus_of_minus(s) + (-y * s > T(0) ? -y * s : T(0));
            if (loss == SQUARED) losses = fused_multiply_add(f - y, f - y, losses);
            if (loss == HINGE) losses += fused_multiply_add(-y, f, T(1));
            sum += f;
            squares = fused_multiply_add(f, f, squares);
            own[k] = f;
        }
        const double total = warp_sum((double)sum);
        if (diverse) diversity += fma(total, total, -warp_sum((double)squares));
        if (loss) empirical = fma(count, warp_sum((double)losses), empirical);
        const T factor = (T)agreement, all = (T)total, part = (T)(share * count);
        for (int k = lane; k < m; k += 32) {
            T f = own[k], slope = fused_multiply_add(-f, f, T(1)), r = factor * (all - f) * slope;
            if (loss == LOGISTIC) r = fused_multiply_add(part * T(.5), f - y, r);
            if (loss == SQUARED) r = fused_multiply_add(part * (f - y), slope, r);
            if (loss == HINGE) r = fused_multiply_add(-part * y * T(.5), slope, r);
            own[k] = r;
        }
    }
    if (lane == 0) {
        v_part[warp] = again ? v_part[warp] + empirical : empirical;
        v_part[warps + warp] = again ? v_part[warps + warp] + diversity : diversity;
    }
}

// g_part[part][feature][lane] = sum of x[row][feature] d[row][lane] over the rows of the part; `again`: added to what is there.
// Grid: features / 64, lanes / 64, parts of `each` rows; 256 threads. Floats are added in doubles after 256 rows.
template <typename T>
__device__ __forceinline__ void gradient(const T* __restrict__ x, Rows here, int width, const T* __restrict__ d, int lanes, int each, int again,
                                         double* __restrict__ g_part) {
    T* xs = reinterpret_cast<T*>(memory); // [DEPTH][SIDE]
    T* ds = xs + DEPTH * SIDE;            // [DEPTH][SIDE]
    const int tid = threadIdx.x, feature0 = blockIdx.x * SIDE, lane0 = blockIdx.y * SIDE;
    const Rows begin = (Rows)blockIdx.z * each, end = begin + each < here ? begin + each : here;
    T sums[EACH][EACH] = {};
    double wide[EACH][EACH] = {};
    auto flush = [&] {
#pragma unroll
        for (int i = 0; i < EACH; i++)
#pragma unroll
            for (int k = 0; k < EACH; k++) { wide[i][k] += (double)sums[i][k]; sums[i][k] = T(0); }
    };
    int since = 0;
    for (Rows row0 = begin; row0 < end; row0 += DEPTH) {
#pragma unroll
        for (int q = 0; q < SIDE * DEPTH / 256; q++) {
            int e = tid + 256 * q, row = e / SIDE, j = e % SIDE;
            xs[row * SIDE + j] = feature0 + j < width ? x[(row0 + row) * width + feature0 + j] : T(0);
            ds[row * SIDE + j] = d[(row0 + row) * lanes + lane0 + j];
        }
        __syncthreads();
        multiply(xs, ds, SIDE, sums);
        __syncthreads();
        if (sizeof(T) == 4 && ++since == 256 / DEPTH) { since = 0; flush(); }
    }
    flush();
    const int across = (tid & 15) * EACH, down = (tid >> 4) * EACH;
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
        for (int k = 0; k < EACH; k++)
            if (feature0 + down + i < width) {
                double* to = g_part + ((size_t)blockIdx.z * width + feature0 + down + i) * lanes + lane0 + across + k;
                *to = again ? *to + wide[i][k] : wide[i][k];
            }
}

// ---------------------------------------------------------------------------------------------------------------------
// Adds what the parts found in their order, in doubles: `size` numbers of each, times `scale`; and `kinds` sums of `values` numbers
// each. `again`: added to what is there. 512 threads.
template <typename T>
__device__ __forceinline__ void finish(const T* __restrict__ parts, int count, int size, double scale, const double* __restrict__ v_part, int values,
                                       int kinds, int again, double* __restrict__ out, double* __restrict__ v) {
    double(*sums)[33] = (double(*)[33])memory; // [16][33]
    const int column = blockIdx.x * 32 + threadIdx.x % 32, slice = threadIdx.x / 32;
    double sum = 0.;
    if (column < size)
        for (int b = slice; b < count; b += 16) sum += (double)parts[(size_t)b * size + column];
    sums[slice][threadIdx.x % 32] = sum;
    __syncthreads();
    if (slice == 0 && column < size) {
        double total = 0.;
        for (int i = 0; i < 16; i++) total += sums[i][threadIdx.x];
        total *= scale;
        out[column] = again ? out[column] + total : total;
    }
    if (blockIdx.x == 0 && slice >= 1 && slice <= kinds) {
        double total = 0.;
        for (int b = threadIdx.x % 32; b < values; b += 32) total += v_part[(size_t)(slice - 1) * values + b];
        total = warp_sum(total);
        if (threadIdx.x % 32 == 0) v[slice - 1] = again ? v[slice - 1] + total : total;
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Rows of `d` doubles to rows of `width` numbers: the values, the constant 1, zeros.
template <typename T> __device__ __forceinline__ void widen(const double* __restrict__ x, Rows n, int d, int width, T* __restrict__ out) {
    const Rows total = n * width, threads = (Rows)gridDim.x * blockDim.x;
    for (Rows i = (Rows)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += threads) {
        const Rows row = i / width;
        const int col = (int)(i % width);
        out[i] = col < d ? (T)x[row * d + col] : T(col == d ? 1 : 0);
    }
}

// Each part is compiled by itself, so that a fit loads no more than it uses.
extern "C" {
#ifdef UDEED_ANY
__global__ void widen_double(const double* x, Rows n, int d, int width, double* out) { widen(x, n, d, width, out); }
__global__ void widen_single(const double* x, Rows n, int d, int width, float* out) { widen(x, n, d, width, out); }

// The largest absolute value of each column: a block a column, 512 threads.
__global__ void column_max(const float* x, Rows n, int width, float* out) {
    float* found = reinterpret_cast<float*>(memory);
    float most = 0.f;
    for (Rows row = threadIdx.x; row < n; row += blockDim.x) most = fmaxf(most, fabsf(x[row * width + blockIdx.x]));
    found[threadIdx.x] = most;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < (int)blockDim.x; i++) most = fmaxf(most, found[i]);
        out[blockIdx.x] = most;
    }
}

// Rows of `width` floats as two arrays of halves, `stride` to a row; each column times its scale.
__global__ void split_rows(const float* x, Rows n, int width, const float* scale, int stride, Half* hi, Half* lo) {
    const Rows total = n * stride, threads = (Rows)gridDim.x * blockDim.x;
    for (Rows i = (Rows)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += threads) {
        const Rows row = i / stride;
        const int col = (int)(i % stride);
        const float v = col < width ? x[row * width + col] * scale[col] : 0.f;
        uint32_t high, low;
        split(v, 0.f, high, low);
        hi[i] = (Half)high;
        lo[i] = (Half)low;
    }
}


#define FOR_EACH_PRECISION(NAME, T)                                                                                                                  \
    __global__ void __launch_bounds__(256) scores_##NAME(const T* x, int width, const T* w, int lanes, T* z) { scores(x, width, w, lanes, z); }      \
    __global__ void __launch_bounds__(256) derivatives_##NAME(T* z, Rows first, Rows here, Rows n, int lanes, int m, int heads, int loss,            \
                                                              double share, int diverse, double agreement, const double* targets,                    \
                                                              const double* counts, int again, double* v_part) {                                     \
        derivatives(z, first, here, n, lanes, m, heads, loss, share, diverse, agreement, targets, counts, again, v_part);                            \
    }                                                                                                                                                \
    __global__ void __launch_bounds__(256) gradient_##NAME(const T* x, Rows here, int width, const T* d, int lanes, int each, int again,             \
                                                           double* g_part) {                                                                         \
        gradient(x, here, width, d, lanes, each, again, g_part);                                                                                     \
    }                                                                                                                                                \
    __global__ void __launch_bounds__(512) finish_##NAME(const T* parts, int count, int size, double scale, const double* v_part, int values,        \
                                                         int kinds, int again, double* out, double* v) {                                             \
        finish(parts, count, size, scale, v_part, values, kinds, again, out, v);                                                                     \
    }
FOR_EACH_PRECISION(single, float)
FOR_EACH_PRECISION(double, double)
#endif

#ifdef UDEED_FUSED_SINGLE
#define FUSED(KG)                                                                                                                                     \
    __global__ void __launch_bounds__(224, 2) fused_single_##KG(const Half* xh, const Half* xl, int tiles, const float* w, float w_scale,             \
                                                                float unit, float d_scale, float* g_part, double* v_part) {                           \
        fused_single<KG>(xh, xl, tiles, w, w_scale, unit, d_scale, g_part, v_part);                                                                   \
    }
FUSED(2) FUSED(4) FUSED(6) FUSED(7) FUSED(8)
#undef FUSED
#endif

#ifdef UDEED_FUSED_DOUBLE
#define FUSED(KG)                                                                                                                                     \
    __global__ void __launch_bounds__(224, 2) fused_double_##KG(const double* x, int tiles, const double* w, double* g_part, double* v_part) {        \
        fused_double<KG>(x, tiles, w, g_part, v_part);                                                                                                \
    }
FUSED(2) FUSED(4) FUSED(6) FUSED(7) FUSED(8)
#undef FUSED
#endif
}
