package access

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// vectors are loops at stride 1, like those that C compilers generate. int32 has no vector division.
var vectors map[string]vector

// dotVectors are the vector loops of Dot, by type.
var dotVectors map[string]dotVector

func init() {
	if cpuid.CPU.Supports(cpuid.AVX2) {
		vectorName = "AVX2"
		vectors = map[string]vector{
			"read-int32":       readInt32,
			"write-int32":      write4Bytes,
			"multiply-int32":   multiplyInt32,
			"read-float32":     readFloat32,
			"write-float32":    write4Bytes,
			"multiply-float32": multiplyFloat32,
			"divide-float32":   divideFloat32,
			"read-float64":     readFloat64,
			"write-float64":    writeFloat64,
			"multiply-float64": multiplyFloat64,
			"divide-float64":   divideFloat64,
		}
		dotVectors = map[string]dotVector{"int32": dotInt32, "float32": dotFloat32, "float64": dotFloat64}
	}
}

//go:noescape
func readInt32(p unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func write4Bytes(p unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func multiplyInt32(p unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func readFloat32(p unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func multiplyFloat32(p unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func divideFloat32(p unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func readFloat64(p unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func writeFloat64(p unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func multiplyFloat64(p unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func divideFloat64(p unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func dotInt32(p, vector unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func dotFloat32(p, vector unsafe.Pointer, rounds int, x unsafe.Pointer)

//go:noescape
func dotFloat64(p, vector unsafe.Pointer, rounds int, x unsafe.Pointer)
