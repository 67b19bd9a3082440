"""What may run: state, readiness, the verbs and their receipts."""
