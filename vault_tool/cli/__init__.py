"""The command line: what people and shell-using agents type; every command is one call into verbs."""
