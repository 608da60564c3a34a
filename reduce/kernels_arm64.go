package reduce

import "unsafe"

// NEON is in every arm64.
var versions = []version{
	{"NEON", 16, true, map[string]kernel{
		"SUM_I": sumInt32NEON, "SUM_L": sumInt64NEON, "SUM_F": sumFloat32NEON, "SUM_R": sumFloat64NEON,
		"PROD_I": prodInt32NEON, "PROD_L": prodInt64NEON, "PROD_F": prodFloat32NEON, "PROD_R": prodFloat64NEON,
		"MAX_I": maxInt32NEON, "MAX_L": maxInt64NEON, "MAX_F": maxFloat32NEON, "MAX_R": maxFloat64NEON,
		"MIN_I": minInt32NEON, "MIN_L": minInt64NEON, "MIN_F": minFloat32NEON, "MIN_R": minFloat64NEON,
		"LAND_I": landInt32NEON, "LAND_L": landInt64NEON,
		"LOR_I": lorInt32NEON, "LOR_L": lorInt64NEON,
		"LXOR_I": lxorInt32NEON, "LXOR_L": lxorInt64NEON,
		"BAND_I": bandNEON, "BAND_L": bandNEON,
		"BOR_I": borNEON, "BOR_L": borNEON,
		"BXOR_I": bxorNEON, "BXOR_L": bxorNEON,
	}},
}

func sumInt32NEON(inout, in unsafe.Pointer, n int)
func sumInt64NEON(inout, in unsafe.Pointer, n int)
func sumFloat32NEON(inout, in unsafe.Pointer, n int)
func sumFloat64NEON(inout, in unsafe.Pointer, n int)
func prodInt32NEON(inout, in unsafe.Pointer, n int)
func prodInt64NEON(inout, in unsafe.Pointer, n int)
func prodFloat32NEON(inout, in unsafe.Pointer, n int)
func prodFloat64NEON(inout, in unsafe.Pointer, n int)
func maxInt32NEON(inout, in unsafe.Pointer, n int)
func maxInt64NEON(inout, in unsafe.Pointer, n int)
func maxFloat32NEON(inout, in unsafe.Pointer, n int)
func maxFloat64NEON(inout, in unsafe.Pointer, n int)
func minInt32NEON(inout, in unsafe.Pointer, n int)
func minInt64NEON(inout, in unsafe.Pointer, n int)
func minFloat32NEON(inout, in unsafe.Pointer, n int)
func minFloat64NEON(inout, in unsafe.Pointer, n int)
func landInt32NEON(inout, in unsafe.Pointer, n int)
func landInt64NEON(inout, in unsafe.Pointer, n int)
func lorInt32NEON(inout, in unsafe.Pointer, n int)
func lorInt64NEON(inout, in unsafe.Pointer, n int)
func lxorInt32NEON(inout, in unsafe.Pointer, n int)
func lxorInt64NEON(inout, in unsafe.Pointer, n int)
func bandNEON(inout, in unsafe.Pointer, n int)
func borNEON(inout, in unsafe.Pointer, n int)
func bxorNEON(inout, in unsafe.Pointer, n int)
