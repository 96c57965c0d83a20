"""Packets of a flow from host to host: where each millisecond went.

flow        what the user asks for, as a filter
watching    a run in virtual time that follows packets: sightings at every port, traces of every switch
headers < journeys      each packet's way, piece by piece, from sightings and traces
telling, picture        the journeys in words, and drawn
"""

from phb_lab.following.flow import Followed as Followed
from phb_lab.following.flow import parse_flow as parse_flow
from phb_lab.following.journeys import Journey as Journey
from phb_lab.following.journeys import Journeys as Journeys
