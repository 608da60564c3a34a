# Tables of messages.c with those batches alone before and after which an empty message took
# from least to less than below µs:
#
#   awk -v least=US -v below=US -f batches.awk OUTPUT OUTPUT
#
# The output is read twice. Batches whose sums took 1.15 times the least, or more, are left out where that leaves
# half of the batches: another thread had one of the cores. Else all count, and a comment says so. A time
# is the median over batches; sizes without any are left out, and so are tables.
function sorted(x, n, i, j, v) {
  for (i = 2; i <= n; i++) {
    v = x[i]
    for (j = i - 1; j > 0 && x[j] > v; j--) x[j + 1] = x[j]
    x[j + 1] = v
  }
}
# slow is what sums take from which on a core was not undisturbed: the least is where five are within 3 %.
function slow(i, limit) {
  sorted(computed, batches)
  for (i = 1; i + 4 <= batches && computed[i + 4] > 1.03 * computed[i]; i++);
  if (i + 4 > batches) return 1e9
  limit = 1.15 * computed[i]
  for (i = batches; i > 0 && computed[i] >= limit; i--);
  if (i == batches) return 1e9
  said = sprintf("# sums took %.2f usec or more in %d of %d batches", limit, batches - i, batches)
  said = said (2 * i >= batches ? ", which are left out" : ": too many to be left out")
  return 2 * i >= batches ? limit : 1e9
}
function row(x) {
  if (n == 0) return
  sorted(time, n)
  x = n % 2 ? time[(n + 1) / 2] : (time[n / 2] + time[n / 2 + 1]) / 2
  printf "%s%13d %12d %12.4f\n", head, bytes, repeats, x
  head = ""; n = repeats = 0
}
FNR == 1 && NR > 1 { limit = slow() }
/^# batch / {
  if ($6 < least || $6 >= below || $7 < least || $7 >= below) next
  if (NR == FNR) computed[++batches] = $8 + 0
  else if ($8 < limit) { bytes = $3; repeats += $4; time[++n] = $5 + 0 }
  next
}
NR == FNR { next }
{ row() }
/^#-----/ && !open { head = "\n"; open = 1 }
open { head = head $0 "\n"; if ($1 == "#bytes") open = 0; next }
/^#/
END { row(); if (said) print said }
