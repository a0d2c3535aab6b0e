"""Attaches to the stream `heat` while it runs, and takes every fourth cell of every step."""

import flexpath

for step in flexpath.subscribe("heat"):
    coarse = step["temperature"][..., ::4]  # only these elements cross
    print(f"step {step.number} at {float(step['time']):.1f} s: {coarse.mean():.2f} {step['temperature'].unit}")
