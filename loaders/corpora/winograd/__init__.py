"""Winograd schemas: Davis's XML, the Hub's layout, WinoGrande, Trinh and Le."""
