# Prints medians of two programs' alternating measurements, and of their ratios, ours over theirs.
#
#   awk -v theirs='C (ns)' -v ours='Go (ns)' -f ratios.awk ROUNDS
#
# A line of ROUNDS is a name without spaces, their number and ours, and optionally the looks before,
# between and after. With -v least=US -v below=US only rounds count with all looks from least to
# less than below.
function median(list, n,   i, j, t) {
  for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] < list[j-1]; j--) { t = list[j]; list[j] = list[j-1]; list[j-1] = t }
  return n % 2 ? list[(n+1)/2] : (list[n/2] + list[n/2+1]) / 2
}
NF == 6 && below { for (i = 4; i <= 6; i++) if ($i < least || $i >= below) next }
NF != 3 && NF != 6 { print "no number in: " $0 > "/dev/stderr"; failed = 1; exit 1 }
{ n[$1]++; a[$1, n[$1]] = $2; b[$1, n[$1]] = $3; if (n[$1] == 1) order[++kinds] = $1 }
END {
  if (failed) exit 1
  if (!kinds) { print "no round was in it from beginning to end"; exit }
  printf "%-30s %14s %14s %8s   %s\n", "", theirs, ours, "ratio", "rounds, least to most"
  for (k = 1; k <= kinds; k++) {
    kind = order[k]; m = n[kind]
    for (i = 1; i <= m; i++) { x[i] = a[kind, i]; y[i] = b[kind, i]; r[i] = y[i] / x[i] }
    median(r, m)
    printf "%-30s %14.4g %14.4g %8.2f   %.2f – %.2f\n", kind, median(x, m), median(y, m), median(y, m) / median(x, m), r[1], r[m]
  }
}
