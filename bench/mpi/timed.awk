# Penalties of rules and of a library's own choice: awk -f timed.awk RULES PASS… One half of the passes
# chooses the best setting of a cell, the other one times it; a pass compares settings, so that what
# drifts hits both.
BEGIN { FS = "\t" }
FILENAME == ARGV[1] {
  if (FNR > 1) rule[$1 " " $3] = $4
  next
}
FNR == 1 { passes++ }
$1 == "time" {
  cell = $2 " " $5
  if (!(cell in seen)) { seen[cell] = 1; cells[++n] = cell }
  if (!((cell, $3) in known)) { known[cell, $3] = 1; settings[cell] = settings[cell] " " $3 }
  us[passes, cell, $3] = $6
}
# ratios are what one setting takes by another one, sorted into v, in the passes that step over.
function ratios(cell, one, other, first, step,   p, k, j, t) {
  k = 0
  for (p = first; p <= passes; p += step)
    if (us[p, cell, other] > 0 && us[p, cell, one] > 0) {
      t = us[p, cell, one] / us[p, cell, other]
      for (j = ++k; j > 1 && v[j - 1] > t; j--) v[j] = v[j - 1]
      v[j] = t
    }
  return k
}
function median(k) { return k % 2 ? v[(k + 1) / 2] : (v[k / 2] + v[k / 2 + 1]) / 2 }
# bound is which of k sorted values is the lower end of the median's interval of 95 %, 0 where none is.
function bound(k,   i, p, sum) {
  p = 0.5 ^ k
  for (i = 0; sum + p <= 0.025; i++) { sum += p; p *= (k - i) / (i + 1) }
  return i
}
END {
  for (i = 1; i <= n; i++) {
    cell = cells[i]
    c = substr(cell, 1, index(cell, " ") - 1)
    if (!(c in count)) order[++kinds] = c
    k = split(settings[cell], s, " ")
    r = (cell in rule) ? rule[cell] : "own"
    for (h = 0; h < 2; h++) {
      best = "own"; least = 1
      for (j = 1; j <= k; j++) {
        t = median(ratios(cell, s[j], "own", 1 + h, 2))
        if (t < least) { least = t; best = s[j] }
      }
      own[c] += (median(ratios(cell, "own", best, 2 - h, 2)) - 1) / 2
      ours[c] += (median(ratios(cell, r, best, 2 - h, 2)) - 1) / 2
    }
    count[c]++
    if (r == "own") continue
    rules[c]++
    k = ratios(cell, r, "own", 1, 1)
    b = bound(k)
    if (b && v[k + 1 - b] < 1) quicker[c]++
    if (b && v[b] > 1) {
      slower[c]++
      printf "certainly slower than the own choice, by %.1f %%: %s %s\n", 100 * (median(k) - 1), cell, r
    }
  }
  printf "%-10s %5s %10s %10s %6s %10s %10s\n", "mean %", "cells", "own", "by plan", "rules", "quicker", "slower"
  for (i = 1; i <= kinds; i++) {
    c = order[i]
    row(c, count[c], own[c], ours[c], rules[c], quicker[c], slower[c])
    a += own[c]; b2 += ours[c]; all += count[c]; r2 += rules[c]; q += quicker[c]; sl += slower[c]
  }
  row("all", all, a, b2, r2, q, sl)
}
function row(name, cells, own, ours, rules, quicker, slower) {
  printf "%-10s %5d %10.1f %10.1f %6d %10d %10d\n", name, cells, 100 * own / cells, 100 * ours / cells, rules, quicker, slower
}
