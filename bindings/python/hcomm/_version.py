"""The version of this package, which is that of the library that it loads."""
__version__ = "0.1.0"
