"""Everything derived from the files: built anew at any time, compared with them before every answer."""
