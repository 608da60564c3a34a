package collective

// Bcast has one message, which the root has from the start: MPI_Bcast.
var Bcast = &Collective{
	Name: "bcast", About: "all ranks get the root's message", M: "the message",
	Rooted:  true,
	Brings:  rootBrings(func(c Call, _ int) Span { return Span{Recv, 0, c.M} }),
	Promise: func(c Call, _ int) []Part { return []Part{{From: c.Root, Ranks: 1, Bytes: c.M}} },
	Default: "binomial", Benchmarks: measured("Bcast", "Broadcast"),
}
