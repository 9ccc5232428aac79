#!/bin/sh
# The Debian packages of the extended tests: those of the integration tests, LibreOffice Calc (whether a visitor's
# question in CSV becomes a formula; 55 s, 500 MB), and what builds the sites of the corpora: javadoc, and Python with venv.
sh "$(dirname "$0")/../integration/install-packages.sh" &&
  exec sh "$(dirname "$0")/../support/install-packages.sh" libreoffice-calc default-jdk-headless python3-venv
