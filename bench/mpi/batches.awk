# Tables of messages.c with those batches alone before and after which an empty message took
# from least to less than below µs:
#
#   awk -v least=US -v below=US -f batches.awk OUTPUT OUTPUT
#
# The output is read twice. Batches whose sums took 1.15 times the least, or more, are left out where that leaves
# three of each size: another thread had one of the cores. Else all count. A comment says so. A time is the
# median over batches, of an even number the lower one: an interruption adds to one. Sizes without any are left
# out, and so are tables.
function sorted(x, n, i, j, v) {
  for (i = 2; i <= n; i++) {
    v = x[i]
    for (j = i - 1; j > 0 && x[j] > v; j--) x[j + 1] = x[j]
    x[j + 1] = v
  }
}
# slow is the time of a sum from which on its core was disturbed; the least time is the first of five within 3 %.
function slow(i, limit, size, left, few, slower) {
  for (i = 1; i <= batches; i++) took[i] = computed[i]
  sorted(took, batches)
  for (i = 1; i + 4 <= batches && took[i + 4] > 1.03 * took[i]; i++);
  if (i + 4 > batches) return 1e9
  limit = 1.15 * took[i]
  for (i = 1; i <= batches; i++) {
    left[of[i]] += computed[i] < limit
    slower += computed[i] >= limit
  }
  if (!slower) return 1e9
  for (size in left) few += left[size] < 3
  said = sprintf("# sums took %.2f usec or more in %d of %d batches", limit, slower, batches)
  said = said (!few ? ", which are left out" : 2 * slower > batches ? ": most of them, none is left out" : ": too many to be left out")
  return few ? 1e9 : limit
}
function row() {
  if (n == 0) return
  sorted(time, n)
  printf "%s%13d %12d %12.4f\n", head, bytes, repeats, time[int((n + 1) / 2)]
  head = ""; n = repeats = 0
}
FNR == 1 && NR > 1 { limit = slow() }
/^# batch / {
  if ($6 < least || $6 >= below || $7 < least || $7 >= below) next
  if (NR == FNR) { computed[++batches] = $8 + 0; of[batches] = table " " $3 }
  else if ($8 < limit) { bytes = $3; repeats += $4; time[++n] = $5 + 0 }
  next
}
NR == FNR { if (/^# Benchmarking/) table = ""; if (/^# (Benchmarking|#processes|\()/) table = table $0; next }
{ row() }
/^#-----/ && !open { head = "\n"; open = 1 }
open { head = head $0 "\n"; if ($1 == "#bytes") open = 0; next }
/^#/
END { row(); if (said) print said }
