"""A report sink: one file for each report in a granted directory."""
