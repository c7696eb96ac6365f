#!/usr/bin/env python3
"""count.py OURS THEIRS: counts lines and characters of each scenario of two files, without blank lines and comments. A scenario begins with
“// MARK: ”."""
import pathlib, re, sys


def counts(file):
    scenarios = re.split(r"^// MARK: ", pathlib.Path(file).read_text(), flags=re.M)[1:]
    result = {}
    for scenario in scenarios:
        name, *lines = scenario.splitlines()
        code = [line.strip() for line in lines if line.strip() and not line.strip().startswith("//")]
        result[name] = (len(code), sum(map(len, code)))
    return result


ours, theirs = map(counts, sys.argv[1:])
print("| scenario | lines | characters | there: lines | characters |\n|---|---|---|---|---|")
for name in ours:
    print(f"| {name} | {ours[name][0]} | {ours[name][1]} | {theirs[name][0]} | {theirs[name][1]} |")
total = [sum(counts[index] for counts in side.values()) for side in (ours, theirs) for index in (0, 1)]
print("| all | " + " | ".join(map(str, total)) + " |")
