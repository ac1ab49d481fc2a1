"""What each verb and each tool answers about one small story, kept as files."""
