"""Winograd schemas and WinoGrande, in all the layouts that they are found in."""
