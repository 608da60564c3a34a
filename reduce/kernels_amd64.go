package reduce

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var versions = []version{
	// DQ multiplies 64-bit integers.
	{"AVX-512", 64, cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ, map[string]kernel{
		"SUM_I": sumInt32AVX512, "SUM_L": sumInt64AVX512, "SUM_F": sumFloat32AVX512, "SUM_R": sumFloat64AVX512,
		"PROD_I": prodInt32AVX512, "PROD_L": prodInt64AVX512, "PROD_F": prodFloat32AVX512, "PROD_R": prodFloat64AVX512,
		"MAX_I": maxInt32AVX512, "MAX_L": maxInt64AVX512, "MAX_F": maxFloat32AVX512, "MAX_R": maxFloat64AVX512,
		"MIN_I": minInt32AVX512, "MIN_L": minInt64AVX512, "MIN_F": minFloat32AVX512, "MIN_R": minFloat64AVX512,
		"LAND_I": landInt32AVX512, "LAND_L": landInt64AVX512,
		"LOR_I": lorInt32AVX512, "LOR_L": lorInt64AVX512,
		"LXOR_I": lxorInt32AVX512, "LXOR_L": lxorInt64AVX512,
		"BAND_I": bandAVX512, "BAND_L": bandAVX512,
		"BOR_I": borAVX512, "BOR_L": borAVX512,
		"BXOR_I": bxorAVX512, "BXOR_L": bxorAVX512,
	}},
	{"AVX2", 32, cpu.X86.HasAVX2, map[string]kernel{
		"SUM_I": sumInt32AVX2, "SUM_L": sumInt64AVX2, "SUM_F": sumFloat32AVX2, "SUM_R": sumFloat64AVX2,
		"PROD_I": prodInt32AVX2, "PROD_L": prodInt64AVX2, "PROD_F": prodFloat32AVX2, "PROD_R": prodFloat64AVX2,
		"MAX_I": maxInt32AVX2, "MAX_L": maxInt64AVX2, "MAX_F": maxFloat32AVX2, "MAX_R": maxFloat64AVX2,
		"MIN_I": minInt32AVX2, "MIN_L": minInt64AVX2, "MIN_F": minFloat32AVX2, "MIN_R": minFloat64AVX2,
		"LAND_I": landInt32AVX2, "LAND_L": landInt64AVX2,
		"LOR_I": lorInt32AVX2, "LOR_L": lorInt64AVX2,
		"LXOR_I": lxorInt32AVX2, "LXOR_L": lxorInt64AVX2,
		"BAND_I": bandAVX2, "BAND_L": bandAVX2,
		"BOR_I": borAVX2, "BOR_L": borAVX2,
		"BXOR_I": bxorAVX2, "BXOR_L": bxorAVX2,
	}},
	// SSE4.2 compares 64-bit integers.
	{"SSE4.2", 16, cpu.X86.HasSSE42, map[string]kernel{
		"SUM_I": sumInt32SSE, "SUM_L": sumInt64SSE, "SUM_F": sumFloat32SSE, "SUM_R": sumFloat64SSE,
		"PROD_I": prodInt32SSE, "PROD_L": prodInt64SSE, "PROD_F": prodFloat32SSE, "PROD_R": prodFloat64SSE,
		"MAX_I": maxInt32SSE, "MAX_L": maxInt64SSE, "MAX_F": maxFloat32SSE, "MAX_R": maxFloat64SSE,
		"MIN_I": minInt32SSE, "MIN_L": minInt64SSE, "MIN_F": minFloat32SSE, "MIN_R": minFloat64SSE,
		"LAND_I": landInt32SSE, "LAND_L": landInt64SSE,
		"LOR_I": lorInt32SSE, "LOR_L": lorInt64SSE,
		"LXOR_I": lxorInt32SSE, "LXOR_L": lxorInt64SSE,
		"BAND_I": bandSSE, "BAND_L": bandSSE,
		"BOR_I": borSSE, "BOR_L": borSSE,
		"BXOR_I": bxorSSE, "BXOR_L": bxorSSE,
	}},
}

func sumInt32AVX512(inout, in unsafe.Pointer, n int)
func sumInt64AVX512(inout, in unsafe.Pointer, n int)
func sumFloat32AVX512(inout, in unsafe.Pointer, n int)
func sumFloat64AVX512(inout, in unsafe.Pointer, n int)
func prodInt32AVX512(inout, in unsafe.Pointer, n int)
func prodInt64AVX512(inout, in unsafe.Pointer, n int)
func prodFloat32AVX512(inout, in unsafe.Pointer, n int)
func prodFloat64AVX512(inout, in unsafe.Pointer, n int)
func maxInt32AVX512(inout, in unsafe.Pointer, n int)
func maxInt64AVX512(inout, in unsafe.Pointer, n int)
func maxFloat32AVX512(inout, in unsafe.Pointer, n int)
func maxFloat64AVX512(inout, in unsafe.Pointer, n int)
func minInt32AVX512(inout, in unsafe.Pointer, n int)
func minInt64AVX512(inout, in unsafe.Pointer, n int)
func minFloat32AVX512(inout, in unsafe.Pointer, n int)
func minFloat64AVX512(inout, in unsafe.Pointer, n int)
func landInt32AVX512(inout, in unsafe.Pointer, n int)
func landInt64AVX512(inout, in unsafe.Pointer, n int)
func lorInt32AVX512(inout, in unsafe.Pointer, n int)
func lorInt64AVX512(inout, in unsafe.Pointer, n int)
func lxorInt32AVX512(inout, in unsafe.Pointer, n int)
func lxorInt64AVX512(inout, in unsafe.Pointer, n int)
func bandAVX512(inout, in unsafe.Pointer, n int)
func borAVX512(inout, in unsafe.Pointer, n int)
func bxorAVX512(inout, in unsafe.Pointer, n int)

func sumInt32AVX2(inout, in unsafe.Pointer, n int)
func sumInt64AVX2(inout, in unsafe.Pointer, n int)
func sumFloat32AVX2(inout, in unsafe.Pointer, n int)
func sumFloat64AVX2(inout, in unsafe.Pointer, n int)
func prodInt32AVX2(inout, in unsafe.Pointer, n int)
func prodInt64AVX2(inout, in unsafe.Pointer, n int)
func prodFloat32AVX2(inout, in unsafe.Pointer, n int)
func prodFloat64AVX2(inout, in unsafe.Pointer, n int)
func maxInt32AVX2(inout, in unsafe.Pointer, n int)
func maxInt64AVX2(inout, in unsafe.Pointer, n int)
func maxFloat32AVX2(inout, in unsafe.Pointer, n int)
func maxFloat64AVX2(inout, in unsafe.Pointer, n int)
func minInt32AVX2(inout, in unsafe.Pointer, n int)
func minInt64AVX2(inout, in unsafe.Pointer, n int)
func minFloat32AVX2(inout, in unsafe.Pointer, n int)
func minFloat64AVX2(inout, in unsafe.Pointer, n int)
func landInt32AVX2(inout, in unsafe.Pointer, n int)
func landInt64AVX2(inout, in unsafe.Pointer, n int)
func lorInt32AVX2(inout, in unsafe.Pointer, n int)
func lorInt64AVX2(inout, in unsafe.Pointer, n int)
func lxorInt32AVX2(inout, in unsafe.Pointer, n int)
func lxorInt64AVX2(inout, in unsafe.Pointer, n int)
func bandAVX2(inout, in unsafe.Pointer, n int)
func borAVX2(inout, in unsafe.Pointer, n int)
func bxorAVX2(inout, in unsafe.Pointer, n int)

func sumInt32SSE(inout, in unsafe.Pointer, n int)
func sumInt64SSE(inout, in unsafe.Pointer, n int)
func sumFloat32SSE(inout, in unsafe.Pointer, n int)
func sumFloat64SSE(inout, in unsafe.Pointer, n int)
func prodInt32SSE(inout, in unsafe.Pointer, n int)
func prodInt64SSE(inout, in unsafe.Pointer, n int)
func prodFloat32SSE(inout, in unsafe.Pointer, n int)
func prodFloat64SSE(inout, in unsafe.Pointer, n int)
func maxInt32SSE(inout, in unsafe.Pointer, n int)
func maxInt64SSE(inout, in unsafe.Pointer, n int)
func maxFloat32SSE(inout, in unsafe.Pointer, n int)
func maxFloat64SSE(inout, in unsafe.Pointer, n int)
func minInt32SSE(inout, in unsafe.Pointer, n int)
func minInt64SSE(inout, in unsafe.Pointer, n int)
func minFloat32SSE(inout, in unsafe.Pointer, n int)
func minFloat64SSE(inout, in unsafe.Pointer, n int)
func landInt32SSE(inout, in unsafe.Pointer, n int)
func landInt64SSE(inout, in unsafe.Pointer, n int)
func lorInt32SSE(inout, in unsafe.Pointer, n int)
func lorInt64SSE(inout, in unsafe.Pointer, n int)
func lxorInt32SSE(inout, in unsafe.Pointer, n int)
func lxorInt64SSE(inout, in unsafe.Pointer, n int)
func bandSSE(inout, in unsafe.Pointer, n int)
func borSSE(inout, in unsafe.Pointer, n int)
func bxorSSE(inout, in unsafe.Pointer, n int)
