"""Input of any kind for everything that reads what others wrote: an answer or a clear error, and never anything else.

``targets`` says what is read and what must hold, ``shapes`` draws objects that are almost right, ``run`` looks for an
input that breaks a target, and ``corpus`` keeps those that once did. ``python -m tests.fuzz --seconds 600`` looks long.
"""
