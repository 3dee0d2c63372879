"""``counted.py FILE PROGRAM WORD...``: run a program, and write its exit code, seconds and kilobytes into a file.

A process of its own, for the kernel counts the memory of whoever starts a program as the program's.
"""

import resource
import subprocess
import sys
import time

if __name__ == "__main__":
    began = time.monotonic()
    code = subprocess.call(sys.argv[2:], stdin=subprocess.DEVNULL)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with open(sys.argv[1], "w") as file:  # noqa: PTH123 - as little as can be is imported
        file.write(f"{code} {time.monotonic() - began} {peak}")
