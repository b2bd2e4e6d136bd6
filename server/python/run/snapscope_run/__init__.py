"""The part of `snapscope run` that lives in the Python processes of the script."""
