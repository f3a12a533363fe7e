"""Where `meson install` puts the package: the folder for modules of this Python if it lies under the prefix, so that it is found
without further ado, else PREFIX/lib/pythonX.Y/site-packages. Prints that, and the way from there to the library.

usage: where.py PREFIX LIBDIR"""
import os
import sys
import sysconfig

prefix, libdir = sys.argv[1:]
own = sysconfig.get_path("purelib")
below = os.path.join(prefix, "lib", "python{}.{}".format(*sys.version_info), "site-packages")
site = own if os.path.commonpath([own, prefix]) == os.path.normpath(prefix) else below
print(site)
print(os.path.relpath(os.path.join(prefix, libdir, "libhcomm.so.0"), os.path.join(site, "hcomm")))
