"""A question, answered: what finds memories, weighs them, chains them and says why."""
