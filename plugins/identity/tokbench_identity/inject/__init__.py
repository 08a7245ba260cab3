"""Whether a user's text can become a control id: proofs and forgeries."""
