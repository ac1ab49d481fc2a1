"""The door for agents' clients: the verbs as tools of the Model Context Protocol, over a byte stream or HTTP."""
