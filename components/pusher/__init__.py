"""Pusher that makes a version visible by one rename."""
