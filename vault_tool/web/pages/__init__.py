"""What each page shows and does: a module has its `ROUTES`, and its template in `templates/`."""
