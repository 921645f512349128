"""Stand-ins at the engine contracts: scripted, exact, without a sleep."""
