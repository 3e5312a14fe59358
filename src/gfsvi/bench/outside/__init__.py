"""Methods outside of the library, run as scripts in an environment of their own."""
