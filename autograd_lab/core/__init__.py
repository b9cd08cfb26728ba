"""Floor 2: the op row, bind, Tensor state, the tape, modes and observers. No calculus and no display."""
