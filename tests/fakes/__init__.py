"""Real servers on loopback that speak the protocols of embedding providers, well or badly."""
