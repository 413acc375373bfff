"""PyTorch's step on the same card, for ``bench/card.sh``: milliseconds of the diversity loss, its gradient and the new weights."""

import statistics

import torch

torch.backends.cuda.matmul.allow_tf32 = False
DEVICE = torch.device("cuda")
MEMBERS, FEATURES = 100, 54


def milliseconds(f, times=15, warm=5):
    """The median time of the card for a call."""
    for _ in range(warm):
        f()
    torch.cuda.synchronize()
    taken = []
    for _ in range(times):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        f()
        end.record()
        torch.cuda.synchronize()
        taken.append(begin.elapsed_time(end))
    return statistics.median(taken)


def step_of(n, real):
    """A step over ``n`` rows, and its weights."""
    rows = torch.rand(n, FEATURES + 1, device=DEVICE, dtype=real)
    weights = torch.randn(MEMBERS, FEATURES + 1, device=DEVICE, dtype=real) * 0.1

    def step(weights):
        outputs = torch.tanh((rows @ weights.T) * 0.5)
        total = outputs.sum(1, keepdim=True)
        value = (total.squeeze(1) ** 2 - (outputs * outputs).sum(1)).mean() / (MEMBERS * (MEMBERS - 1))
        gradient = ((total - outputs) * (1 - outputs * outputs)).T @ rows / (MEMBERS * (MEMBERS - 1) * n)
        return weights - 0.25 * gradient, value

    return step, weights


print(torch.__version__, torch.cuda.get_device_name())
for n in (217_880, 10_000_000):
    for real in (torch.float64, torch.float32):
        step, weights = step_of(n, real)
        line = f"PyTorch n {n:9} {str(real)[6:]}: eager {milliseconds(lambda: step(weights)):.4f}"
        if real is torch.float32:
            compiled = torch.compile(step)
            line += f" compiled {milliseconds(lambda: compiled(weights)):.4f}"
        print(line, flush=True)
        del step, weights
        torch.cuda.empty_cache()
