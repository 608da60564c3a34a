package calls

// instructions of layer.pass, as Go 1.26 compiles it, counted in an emulator; a test counts them
// where a process may be traced.
const instructions = 630
