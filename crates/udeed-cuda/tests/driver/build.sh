#!/bin/sh
# Compiles the emulated driver: build.sh LIBRARY
set -eu
here=$(dirname "$0")
exec "${CXX:-c++}" -std=c++20 -O2 -ffp-contract=off -w -shared -fPIC -fvisibility=hidden -I "$here" -o "$1" "$here/driver.cpp"
