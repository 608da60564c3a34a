# Tables of messages.c with those batches alone before and after which an empty message took
# from least to less than below µs:
#
#   awk -v least=US -v below=US -f batches.awk OUTPUT...
#
# A time is the median over them; sizes without any are left out, and so are tables.
function row(i, j, x) {
  if (n == 0) return
  for (i = 2; i <= n; i++) {
    x = time[i]
    for (j = i - 1; j > 0 && time[j] > x; j--) time[j + 1] = time[j]
    time[j + 1] = x
  }
  x = n % 2 ? time[(n + 1) / 2] : (time[n / 2] + time[n / 2 + 1]) / 2
  printf "%s%13d %12d %12.4f\n", head, bytes, repeats, x
  head = ""; n = repeats = 0
}
/^# batch / {
  if ($6 >= least && $6 < below && $7 >= least && $7 < below) { bytes = $3; repeats += $4; time[++n] = $5 + 0 }
  next
}
{ row() }
/^#-----/ && !open { head = "\n"; open = 1 }
open { head = head $0 "\n"; if ($1 == "#bytes") open = 0; next }
/^#/
END { row() }
