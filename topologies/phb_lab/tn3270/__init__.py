"""A TN3270E server that emulators connect to: enough of a host to show a screen and to answer what is entered.

- :mod:`~phb_lab.tn3270.telnet`: commands and negotiation (RFC 854, RFC 1576, RFC 2355);
- :mod:`~phb_lab.tn3270.screen`: the 3270 data stream: a screen out, an entered field in;
- :mod:`~phb_lab.tn3270.server`: sessions, each an application that answers Enter with a screen of a given length.
"""
