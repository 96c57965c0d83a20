"""Which packets are treated in a given way: questions (`phb search`) and expectations (`phb verify`)."""
