# UCX is the transport for messages between nodes (src/net/link). Without it MPI is.
hearth_optional(UCX libucx-dev "messages between nodes go through MPI" ucx>=1.13)
