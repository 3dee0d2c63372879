"""How a release is made: the frozen program in an archive for krew, the manifest, the wheel and the sdist."""
