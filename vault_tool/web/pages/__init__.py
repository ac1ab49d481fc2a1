"""The pages: each module has its `ROUTES`, and its template in `templates/`."""
