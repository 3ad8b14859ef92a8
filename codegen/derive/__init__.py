"""What follows from the records as further records."""
