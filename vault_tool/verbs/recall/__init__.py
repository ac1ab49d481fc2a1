"""A question, answered: the engine of recall and the verbs that ask it."""
