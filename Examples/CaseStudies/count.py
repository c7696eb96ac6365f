#!/usr/bin/env python3
"""Counts lines and characters of each scenario, without blank lines and comments: here, and with swift-navigation."""
import pathlib, re
here = pathlib.Path(__file__).parent


def counts(file):
    scenarios = re.split(r"^// MARK: ", (here / file).read_text(), flags=re.M)[1:]
    result = {}
    for scenario in scenarios:
        name, *lines = scenario.splitlines()
        code = [line.strip() for line in lines if line.strip() and not line.strip().startswith("//")]
        result[name] = (len(code), sum(map(len, code)))
    return result


ours, theirs = counts("Tests/CaseStudiesTests/Scenarios.swift"), counts("SwiftNavigation.txt")
print("| scenario | lines | characters | there: lines | characters |\n|---|---|---|---|---|")
for name in ours:
    print(f"| {name} | {ours[name][0]} | {ours[name][1]} | {theirs[name][0]} | {theirs[name][1]} |")
total = [sum(counts[index] for counts in side.values()) for side in (ours, theirs) for index in (0, 1)]
print("| all | " + " | ".join(map(str, total)) + " |")
