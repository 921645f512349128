"""The nodes, one a file, in the order of the chain: opus, vad, asr, turn | ling, tts, encode."""
