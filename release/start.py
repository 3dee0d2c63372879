"""Where the frozen program starts."""

from kubectl_spread.__main__ import main

main()
