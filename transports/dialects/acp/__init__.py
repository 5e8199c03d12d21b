"""The dialect of ACP, the Agent Client Protocol: editors have conversations as its sessions."""
