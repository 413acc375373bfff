// A driver whose card is this machine: runs the real kernels in the emulation beside it. What is wrong with it is said by the
// environment variable UDEED_FAULT; memory of the card begins as NaN, and what is not freed or freed twice is told at the end.
#define UDEED_EMULATION
#define UDEED_ANY
#define UDEED_FUSED_SINGLE
#define UDEED_FUSED_DOUBLE
#include "../../kernels/descent.cu"
#undef memory
#include <map>
#include <mutex>
#include <string>

typedef int Result;
typedef unsigned long long Pointer;
enum { SUCCESS = 0, INVALID = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, BAD_DEVICE = 101, BAD_PTX = 222, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700, MISMATCH = 803 };

static std::recursive_mutex lock_;
static std::map<Pointer, size_t> allocated;
static size_t in_use = 0;
static bool fault(const char* name) { const char* set = getenv("UDEED_FAULT"); return set && !strcmp(set, name); }
static size_t total() { const char* set = getenv("UDEED_CARD_BYTES"); return set ? strtoull(set, nullptr, 10) : (size_t)1 << 30; }
struct Kernel { const char* name; void (*run)(void**); };
#define KERNEL(name) {#name, [](void** arguments) { call(name, arguments); }}
static const Kernel kernels[] = {
    KERNEL(widen_double), KERNEL(widen_single), KERNEL(column_max), KERNEL(split_rows),
    KERNEL(scores_single), KERNEL(derivatives_single), KERNEL(gradient_single), KERNEL(finish_single),
    KERNEL(scores_double), KERNEL(derivatives_double), KERNEL(gradient_double), KERNEL(finish_double),
    KERNEL(fused_single_2), KERNEL(fused_single_4), KERNEL(fused_single_6), KERNEL(fused_single_7), KERNEL(fused_single_8),
    KERNEL(fused_double_2), KERNEL(fused_double_4), KERNEL(fused_double_6), KERNEL(fused_double_7), KERNEL(fused_double_8),
};
// Whether all of a range lies in one allocation.
static bool is_ours(Pointer at, size_t bytes) {
    auto after = allocated.upper_bound(at);
    if (after == allocated.begin()) return false;
    --after;
    return at + bytes <= after->first + after->second;
}
#define EXPORT extern "C" __attribute__((visibility("default"))) Result
EXPORT cuInit(unsigned) { return fault("no-card") ? NO_DEVICE : fault("mismatch") ? MISMATCH : SUCCESS; }
EXPORT cuDriverGetVersion(int* version) { *version = fault("old-driver") ? 11040 : 13000; return SUCCESS; }
EXPORT cuDeviceGetCount(int* count) { *count = 1; return SUCCESS; }
EXPORT cuDeviceGet(int* device, int ordinal) { *device = ordinal; return ordinal == 0 ? SUCCESS : BAD_DEVICE; }
EXPORT cuDeviceGetName(char* name, int length, int) { snprintf(name, length, "Emulated card"); return SUCCESS; }
EXPORT cuDeviceGetAttribute(int* value, int attribute, int) {
    switch (attribute) {
        case 75: *value = fault("old-card") ? 7 : fault("ampere") ? 8 : 9; break; // compute capability
        case 76: *value = fault("old-card") ? 5 : 0; break;
        case 97: *value = 232448; break; // shared memory of a block
        default: return INVALID;
    }
    return SUCCESS;
}
EXPORT cuDevicePrimaryCtxRetain(void** context, int) { *context = &in_use; return fault("busy") ? OUT_OF_MEMORY : SUCCESS; }
EXPORT cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
EXPORT cuCtxSetCurrent(void*) { return SUCCESS; }
EXPORT cuCtxSynchronize() { return fault("lost") ? ILLEGAL_ADDRESS : SUCCESS; }
EXPORT cuMemGetInfo_v2(size_t* free, size_t* all) { *all = total(); *free = total() - in_use; return SUCCESS; }
EXPORT cuMemAlloc_v2(Pointer* at, size_t bytes) {
    std::lock_guard<std::recursive_mutex> guard(lock_);
    if (in_use + bytes > total()) return OUT_OF_MEMORY;
    void* p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    memset(p, 0xFF, bytes);
    allocated[*at = (Pointer)(uintptr_t)p] = bytes;
    in_use += bytes;
    return SUCCESS;
}
EXPORT cuMemFree_v2(Pointer at) {
    std::lock_guard<std::recursive_mutex> guard(lock_);
    auto found = allocated.find(at);
    if (found == allocated.end()) return INVALID;
    in_use -= found->second;
    allocated.erase(found);
    free((void*)(uintptr_t)at);
    return SUCCESS;
}
EXPORT cuMemcpyHtoD_v2(Pointer to, const void* from, size_t bytes) { if (!is_ours(to, bytes)) return ILLEGAL_ADDRESS; memcpy((void*)(uintptr_t)to, from, bytes); return SUCCESS; }
EXPORT cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t bytes, void*) { return cuMemcpyHtoD_v2(to, from, bytes); }
EXPORT cuMemcpyDtoH_v2(void* to, Pointer from, size_t bytes) {
    if (fault("lost") || !is_ours(from, bytes)) return ILLEGAL_ADDRESS;
    memcpy(to, (void*)(uintptr_t)from, bytes);
    return SUCCESS;
}
EXPORT cuMemsetD8_v2(Pointer at, unsigned char value, size_t bytes) { if (!is_ours(at, bytes)) return ILLEGAL_ADDRESS; memset((void*)(uintptr_t)at, value, bytes); return SUCCESS; }
EXPORT cuModuleLoadData(void** module, const void* image) { *module = (void*)image; return fault("old-driver") ? BAD_PTX : SUCCESS; }
EXPORT cuModuleUnload(void*) { return SUCCESS; }
EXPORT cuModuleGetFunction(void** function, void*, const char* name) {
    for (const Kernel& kernel : kernels)
        if (!strcmp(kernel.name, name)) { *function = (void*)&kernel; return SUCCESS; }
    return NOT_FOUND;
}
EXPORT cuFuncSetAttribute(void*, int, int) { return SUCCESS; }
EXPORT cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned, unsigned, unsigned bytes, void*, void** arguments, void**) {
    std::lock_guard<std::recursive_mutex> guard(lock_);
    if (!x || !y || !z || !threads || y > 65535 || z > 65535 || threads > 1024 || bytes > 232448) return INVALID;
    struct Work { const Kernel* kernel; void** arguments; } work{(const Kernel*)function, arguments};
    launch({x, y, z}, threads, bytes, [](void* what) { Work& w = *(Work*)what; w.kernel->run(w.arguments); }, &work);
    return SUCCESS;
}
EXPORT cuGetErrorName(Result error, const char** text) {
    static std::map<Result, const char*> names = {{INVALID, "CUDA_ERROR_INVALID_VALUE"}, {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"}, {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
        {BAD_DEVICE, "CUDA_ERROR_INVALID_DEVICE"}, {BAD_PTX, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"}, {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
        {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}};
    *text = names.count(error) ? names[error] : "CUDA_ERROR_UNKNOWN";
    return SUCCESS;
}
EXPORT cuGetErrorString(Result, const char** text) { *text = "as the emulated driver says"; return SUCCESS; }
// How much of the card is in use, for tests.
EXPORT udeed_bytes_in_use(size_t* bytes) { *bytes = in_use; return SUCCESS; }
