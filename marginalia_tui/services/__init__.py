"""Use cases on books and parts. They work inside the transaction that is handed to them, or say that they open one."""
