"""A report sink: one mail for each report, through the SMTP server that its owner names."""
