"""``-o json`` and ``-o yaml``: the reports, and how JSON differs from the conclusions in them."""
