/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Loaded before a peer (LD_PRELOAD), shows it a smaller processor: where instruction sets are asked
 * for (CPUID), those above the level named by AXON_BENCH_LEVEL are missing. Works where the
 * processor and Linux let CPUID fault (x86-64; cpuid_fault in /proc/cpuinfo); elsewhere the process
 * ends with status 77 before it begins.
 *
 *   cc -shared -fPIC -O1 -o cpuid.so cpuid.c
 *   LD_PRELOAD=./cpuid.so AXON_BENCH_LEVEL=AVX2 python3 ...
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SET_CPUID 0x1012 /* ARCH_SET_CPUID of arch_prctl(2) */
#define BIT(n) (1u << (n))

/* What a level lacks: bits of a register of CPUID's answer to a leaf and a subleaf. */
typedef struct {
  unsigned leaf, subleaf;
  int reg; /* of eax, ebx, ecx, edx */
  unsigned bits;
} Bits;

static const Bits tiles[] = { { 7, 0, 3,
                                BIT (22) | BIT (24) | BIT (25) }, /* AMX bf16, tile, int8 */
                              { 7, 1, 0, BIT (21) },              /* AMX fp16 */
                              { 7, 1, 3, BIT (8) },               /* AMX complex */
                              { 0x1d, 0, 0, ~0u },                /* tile palettes */
                              { 0 } };
static const Bits halves[] = { { 7, 0, 3, BIT (23) },
                               { 7, 1, 0, BIT (5) },
                               { 0 } };                              /* AVX512 fp16, bf16 */
static const Bits dots[] = { { 7, 0, 2, BIT (11) }, { 0 } };         /* AVX512 VNNI */
static const Bits narrow_dots[] = { { 7, 1, 0, BIT (4) | BIT (23) }, /* AVX VNNI, IFMA */
                                    { 7, 1, 3, BIT (4) | BIT (5) | BIT (10) },
                                    { 0 } };
static const Bits wide[] = { { 7, 0, 1,
                               BIT (16) | BIT (17) | BIT (21) | BIT (26) | BIT (27) | BIT (28) |
                                   BIT (30) | BIT (31) },
                             { 7, 0, 2, BIT (1) | BIT (6) | BIT (12) | BIT (14) },
                             { 7, 0, 3, BIT (2) | BIT (3) | BIT (8) },
                             { 7, 1, 3, BIT (19) }, /* AVX10 */
                             { 0 } };
static const Bits avx[] = { { 1, 0, 2, BIT (12) | BIT (28) | BIT (29) }, /* FMA, AVX, F16C */
                            { 7, 0, 1, BIT (5) },                        /* AVX2 */
                            { 7, 0, 2, BIT (9) | BIT (10) },             /* VAES, VPCLMULQDQ */
                            { 0 } };

static const struct {
  const char *name;
  const Bits *lacks[7];
} levels[] = { { "SSE41", { tiles, halves, dots, narrow_dots, wide, avx } },
               { "AVX2", { tiles, halves, dots, narrow_dots, wide } },
               { "AVX2_VNNI", { tiles, halves, dots, wide } },
               { "AVX512", { tiles, halves, dots, narrow_dots } },
               { "AVX512_VNNI", { tiles, halves } },
               { "AVX512_FP16", { tiles } } };

static const Bits *const *lacking;

static void
answer (greg_t *regs)
{
  unsigned leaf = (unsigned)regs[REG_RAX], subleaf = (unsigned)regs[REG_RCX], r[4];

  syscall (SYS_arch_prctl, SET_CPUID, 1);
  __cpuid_count (leaf, subleaf, r[0], r[1], r[2], r[3]);
  syscall (SYS_arch_prctl, SET_CPUID, 0);
  for (const Bits *const *set = lacking; *set; set++)
    for (const Bits *b = *set; b->bits; b++)
      if (b->leaf == leaf && (b->subleaf == subleaf || leaf == 1))
        r[b->reg] &= ~b->bits;
  regs[REG_RAX] = r[0];
  regs[REG_RBX] = r[1];
  regs[REG_RCX] = r[2];
  regs[REG_RDX] = r[3];
}

static void
on_fault (int number, siginfo_t *info, void *context)
{
  greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
  const unsigned char *code = (const unsigned char *)regs[REG_RIP];

  if (info->si_code == SI_KERNEL && code[0] == 0x0f && code[1] == 0xa2) {
    answer (regs);
    regs[REG_RIP] += 2;
  } else
    signal (number, SIG_DFL);
}

__attribute__ ((constructor)) static void
begin (void)
{
  const char *name = getenv ("AXON_BENCH_LEVEL");
  struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };

  for (size_t i = 0; name && i < sizeof levels / sizeof *levels; i++)
    if (strcmp (levels[i].name, name) == 0)
      lacking = levels[i].lacks;
  if (!lacking || sigaction (SIGSEGV, &action, NULL) != 0 ||
      syscall (SYS_arch_prctl, SET_CPUID, 0) != 0)
    _exit (77);
}
