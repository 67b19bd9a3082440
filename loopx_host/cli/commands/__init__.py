"""The commands, one module each: how it is written (`ROUTE`) and how it is served (`serve`)."""
