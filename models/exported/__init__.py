"""The exported model: how it is written, loaded, asked and explained."""
