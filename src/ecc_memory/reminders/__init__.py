"""What harnesses run as hooks: the session reminder and the guard of the vault's files.

A hook stands between a person and their session, so this package starts fast, imports nothing that it
does not need, and in any trouble says nothing.
"""
