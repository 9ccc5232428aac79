#!/bin/sh
# The Debian packages of the extended tests: those of the integration tests, and LibreOffice Calc (whether a visitor's
# question in CSV becomes a formula; 55 s, 500 MB).
sh "$(dirname "$0")/../integration/install-packages.sh" &&
  exec sh "$(dirname "$0")/../support/install-packages.sh" libreoffice-calc
