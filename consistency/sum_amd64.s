#include "textflag.h"

// func addFourAVX(total *float64, n int, a, b, c, d *float32, by *[4]float64)
// Four places at a time, n a positive multiple of 4. The order of operations is that of addFour, and no
// product is fused with a sum, so that both give the same bits.
TEXT ·addFourAVX(SB), NOSPLIT, $0-56
	MOVQ total+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ a+16(FP), R8
	MOVQ b+24(FP), R9
	MOVQ c+32(FP), R10
	MOVQ d+40(FP), R11
	MOVQ by+48(FP), DX
	VBROADCASTSD 0(DX), Y12
	VBROADCASTSD 8(DX), Y13
	VBROADCASTSD 16(DX), Y14
	VBROADCASTSD 24(DX), Y15
	XORQ AX, AX

loop:
	VCVTPS2PD (R8)(AX*4), Y0
	VCVTPS2PD (R9)(AX*4), Y1
	VCVTPS2PD (R10)(AX*4), Y2
	VCVTPS2PD (R11)(AX*4), Y3
	VMULPD Y12, Y0, Y0
	VMULPD Y13, Y1, Y1
	VMULPD Y14, Y2, Y2
	VMULPD Y15, Y3, Y3
	VADDPD Y1, Y0, Y0
	VADDPD Y3, Y2, Y2
	VADDPD Y2, Y0, Y0
	VADDPD (DI)(AX*8), Y0, Y0
	VMOVUPD Y0, (DI)(AX*8)
	ADDQ $4, AX
	CMPQ AX, CX
	JLT loop
	VZEROUPPER
	RET

// func squareAVX(v *float32, n int) float64
// n is a positive multiple of 16. Sixteen sums, joined in the order of square16. It is the first to read a
// vector and waits for memory most: so it asks for what comes 2 kB later, mostly the next vectors, in time.
TEXT ·squareAVX(SB), NOSPLIT, $0-24
	MOVQ v+0(FP), R8
	MOVQ n+8(FP), CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	XORQ AX, AX

squares:
	PREFETCHT0 2048(R8)(AX*4)
	VCVTPS2PD (R8)(AX*4), Y4
	VCVTPS2PD 16(R8)(AX*4), Y5
	VCVTPS2PD 32(R8)(AX*4), Y6
	VCVTPS2PD 48(R8)(AX*4), Y7
	VMULPD Y4, Y4, Y4
	VMULPD Y5, Y5, Y5
	VMULPD Y6, Y6, Y6
	VMULPD Y7, Y7, Y7
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	ADDQ $16, AX
	CMPQ AX, CX
	JLT squares

	VADDPD Y1, Y0, Y0
	VADDPD Y3, Y2, Y2
	VADDPD Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPD X1, X0, X0
	VUNPCKHPD X0, X0, X1
	VADDSD X1, X0, X0
	VMOVSD X0, ret+16(FP)
	VZEROUPPER
	RET
