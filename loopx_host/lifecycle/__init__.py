"""What may run: extensions that were proved, requests to them, and what a goal may ask of them."""
