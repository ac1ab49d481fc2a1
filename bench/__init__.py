"""Speed of the tool beside floors measured in the same run: `python -m bench speed`."""
