// Blocks of threads as fibers of one thread of this machine: enough of CUDA to run descent.cu, with the meaning of its matrix
// instructions, so that wrong indices are found without a card. Shared memory begins as NaN.
#pragma once
#include <ucontext.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>
#define __device__
#define __global__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
using std::copysign; using std::exp; using std::fabs; using std::fma; using std::fmax; using std::fmin; using std::log1p;
struct float2 { float x, y; };
inline float2 make_float2(float x, float y) { return {x, y}; }
struct double2 { double x, y; };
inline double __hiloint2double(int hi, int lo) { return std::bit_cast<double>(((uint64_t)(uint32_t)hi << 32) | (uint32_t)lo); }
inline int __double2loint(double x) { return (int)(uint32_t)std::bit_cast<uint64_t>(x); }

struct Dim { unsigned x, y, z; };
inline Dim threadIdx, blockIdx, blockDim, gridDim;
struct Barrier { unsigned size, count = 0, turn = 0; };
struct Warp { Barrier barrier{32}; alignas(16) double slot[32][8]; };
struct Fiber { ucontext_t context; std::unique_ptr<char[]> stack; Warp* warp; bool done; };
struct Block { Barrier barrier; std::vector<Warp> warps; unsigned char* memory; std::vector<Fiber> fibers; unsigned now; ucontext_t outside; void (*run)(void*); void* what; };
inline Block* block;

// On to the next thread that has not ended.
inline void yield_() {
    Block& b = *block; const unsigned own = b.now, n = (unsigned)b.fibers.size(); unsigned next = own;
    do next = (next + 1) % n; while (b.fibers[next].done && next != own);
    if (next == own) return;
    b.now = next; threadIdx.x = next;
    swapcontext(&b.fibers[own].context, &b.fibers[next].context);
    threadIdx.x = own;
}
inline void wait_(Barrier& at) {
    const unsigned turn = at.turn;
    if (++at.count == at.size) { at.count = 0; at.turn++; return; }
    while (at.turn == turn) yield_();
}
inline int lane_() { return threadIdx.x & 31; }
inline Warp& warp_() { return *block->fibers[threadIdx.x].warp; }
inline void __syncthreads() { wait_(block->barrier); }
// Everybody shows what it has, then reads what it wants.
template <typename F> inline void exchange(const void* mine, size_t bytes, F f) {
    memcpy(warp_().slot[lane_()], mine, bytes); wait_(warp_().barrier); f(warp_().slot); wait_(warp_().barrier);
}
template <typename T> inline T __shfl_sync(unsigned, T v, int from) { T r; exchange(&v, sizeof v, [&](auto& slot) { memcpy(&r, slot[from & 31], sizeof r); }); return r; }
template <typename T> inline T __shfl_xor_sync(unsigned, T v, int bit) { return __shfl_sync(~0u, v, lane_() ^ bit); }
inline uint32_t shared_address(const void* p) { return (uint32_t)((const unsigned char*)p - block->memory); }
inline void copy16(uint32_t to, const void* from) { memcpy(block->memory + to, from, 16); }
inline void copy_commit() {}
inline void copy_wait() {}
inline void load_matrices(uint32_t (&r)[4], uint32_t a, bool trans) {
    exchange(&a, 4, [&](auto& slot) {
        for (int m = 0; m < 4; m++) {
            auto element = [&](int row, int col) { uint32_t p; memcpy(&p, slot[m * 8 + row], 4); uint16_t v; memcpy(&v, block->memory + p + col * 2, 2); return (uint32_t)v; };
            int g = lane_() >> 2, t = lane_() & 3;
            r[m] = trans ? element(2 * t, g) | element(2 * t + 1, g) << 16 : element(g, 2 * t) | element(g, 2 * t + 1) << 16;
        }
    });
}
inline void ldsm4(uint32_t (&r)[4], uint32_t a) { load_matrices(r, a, false); }
inline void ldsm4t(uint32_t (&r)[4], uint32_t a) { load_matrices(r, a, true); }
inline uint32_t pack_halves(float a, float b) { _Float16 h[2] = {(_Float16)a, (_Float16)b}; uint32_t v; memcpy(&v, h, 4); return v; }
inline float2 unpack_halves(uint32_t v) { _Float16 h[2]; memcpy(h, &v, 4); return {(float)h[0], (float)h[1]}; }
inline float half_of(uint32_t v, int i) { float2 both = unpack_halves(v); return i ? both.y : both.x; }
// A (16 x K): registers by (row g, g + 8) then by 8 columns, two columns 2t, 2t + 1 a register; B (K x 8): rows 2t, 2t + 1 (+ 8), column g.
inline void mma_(float (&c)[4], const uint32_t* a, const uint32_t* b, int groups) {
    uint32_t mine[6] = {};
    for (int i = 0; i < 2 * groups; i++) mine[i] = a[i];
    for (int i = 0; i < groups; i++) mine[4 + i] = b[i];
    exchange(mine, 24, [&](auto& slot) {
        int g = lane_() >> 2, t = lane_() & 3;
        for (int i = 0; i < 4; i++) {
            int row = g + 8 * (i >> 1), col = 2 * t + (i & 1); double sum = c[i];
            for (int k = 0; k < 8 * groups; k++) {
                int gr = k / 8, tt = (k % 8) / 2, odd = k & 1; uint32_t ra[6], rb[6];
                memcpy(ra, slot[(row % 8) * 4 + tt], 24); memcpy(rb, slot[col * 4 + tt], 24);
                sum += (double)half_of(ra[gr * 2 + row / 8], odd) * half_of(rb[4 + gr], odd);
            }
            c[i] = (float)sum;
        }
    });
}
inline void mma16(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0, uint32_t b1) { uint32_t a[] = {a0, a1, a2, a3}, b[] = {b0, b1}; mma_(c, a, b, 2); }
inline void mma8(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t b0) { uint32_t a[] = {a0, a1}, b[] = {b0}; mma_(c, a, b, 1); }
inline void dmma(double (&c)[4], double a0, double a1, double a2, double a3, double b0, double b1) {
    double mine[6] = {a0, a1, a2, a3, b0, b1};
    exchange(mine, 48, [&](auto& slot) {
        int g = lane_() >> 2, t = lane_() & 3;
        for (int i = 0; i < 4; i++) {
            int row = g + 8 * (i >> 1), col = 2 * t + (i & 1); double sum = c[i];
            for (int k = 0; k < 8; k++) sum = fma(slot[(row % 8) * 4 + k % 4][row / 8 + 2 * (k / 4)], slot[col * 4 + k % 4][4 + k / 4], sum);
            c[i] = sum;
        }
    });
}
inline float exp2_fast(float x) { return exp2f(x); }
inline float recip_fast(float x) { return 1.f / x; }
inline double recip_double(double x) { return (double)(1.f / (float)x); }

inline void entry_() {
    Block& b = *block; const unsigned own = threadIdx.x;
    b.run(b.what);
    b.fibers[own].done = true;
    for (unsigned step = 1; step < b.fibers.size(); step++) {
        unsigned next = (own + step) % b.fibers.size();
        if (!b.fibers[next].done) { b.now = next; threadIdx.x = next; setcontext(&b.fibers[next].context); }
    }
    setcontext(&b.outside);
}
inline void launch(Dim grid, unsigned threads, unsigned bytes, void (*run)(void*), void* what) {
    constexpr size_t STACK = 64 << 10;
    Block here; block = &here; here.run = run; here.what = what; here.fibers.resize(threads);
    for (auto& fiber : here.fibers) fiber.stack = std::make_unique<char[]>(STACK);
    std::vector<unsigned char> memory(bytes + 128);
    here.memory = (unsigned char*)(((uintptr_t)memory.data() + 127) & ~(uintptr_t)127);
    gridDim = grid; blockDim = {threads, 1, 1};
    for (unsigned z = 0; z < grid.z; z++) for (unsigned y = 0; y < grid.y; y++) for (unsigned x = 0; x < grid.x; x++) {
        blockIdx = {x, y, z};
        std::fill(memory.begin(), memory.end(), 0xFF);
        here.barrier = {threads}; here.warps.assign((threads + 31) / 32, {});
        for (unsigned i = 0; i < threads; i++) {
            Fiber& fiber = here.fibers[i];
            fiber.done = false; fiber.warp = &here.warps[i / 32];
            getcontext(&fiber.context);
            fiber.context.uc_stack.ss_sp = fiber.stack.get(); fiber.context.uc_stack.ss_size = STACK; fiber.context.uc_link = nullptr;
            makecontext(&fiber.context, entry_, 0);
        }
        here.now = 0; threadIdx = {0, 0, 0};
        swapcontext(&here.outside, &here.fibers[0].context);
    }
}
// A kernel with the arguments of cuLaunchKernel.
template <typename... A> inline void call(void (*kernel)(A...), void** arguments) {
    [&]<size_t... I>(std::index_sequence<I...>) { kernel(*static_cast<A*>(arguments[I])...); }(std::index_sequence_for<A...>{});
}
