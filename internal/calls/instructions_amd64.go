package calls

// instructions of layer.pass, as Go 1.26 compiles it; a test counts them.
const instructions = 625
