# Penalties of rules and of a library's own choice: awk -f timed.awk RULES PASS… where the name of a
# PASS has its half, 0 or 1. One half of the passes chooses the best setting of a cell, the other one times it.
BEGIN { FS = "\t" }
FILENAME == ARGV[1] {
  if (FNR > 1) rule[$1 " " $3] = $4
  next
}
FNR == 1 {
  half = FILENAME ~ /-1-[0-9]+-[0-9]+\.tsv$/
}
$1 == "time" {
  cell = $2 " " $5
  if (!(cell in seen)) { seen[cell] = 1; cells[++n] = cell }
  if (!((cell, $3) in known)) { known[cell, $3] = 1; settings[cell] = settings[cell] " " $3 }
  times[half, cell, $3] = times[half, cell, $3] " " $6
  total += $6; of_rule += 0
}
function median(text,   v, k, i, j, t) {
  k = split(text, v, " ")
  for (i = 2; i <= k; i++) for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
  return k % 2 ? v[(k + 1) / 2] + 0 : (v[k / 2] + v[k / 2 + 1]) / 2
}
END {
  for (i = 1; i <= n; i++) {
    cell = cells[i]
    split(cell, w, " ")
    c = w[1]
    if (!(c in count)) order[++kinds] = c
    k = split(settings[cell], s, " ")
    r = (cell in rule) ? rule[cell] : "own"
    for (h = 0; h < 2; h++) {
      best = ""
      for (j = 1; j <= k; j++) {
        t = median(times[h, cell, s[j]])
        if (best == "" || t < least) { least = t; best = s[j] }
      }
      b = median(times[1 - h, cell, best])
      o = median(times[1 - h, cell, "own"])
      t = median(times[1 - h, cell, r])
      own[c] += (o / b - 1) / 2; ours[c] += (t / b - 1) / 2
      if (r != "own") slower[c, i] += (t / o - 1) / 2
    }
    if (r != "own") {
      rules[c]++
      if (slower[c, i] > 0) printf "slower than the own choice by %.1f %%: %s %s\n", 100 * slower[c, i], cell, r
    }
    count[c]++
  }
  printf "%-10s %5s %10s %10s %6s\n", "mean %", "cells", "own", "by plan", "rules"
  for (i = 1; i <= kinds; i++) {
    c = order[i]
    printf "%-10s %5d %10.1f %10.1f %6d\n", c, count[c], 100 * own[c] / count[c], 100 * ours[c] / count[c], rules[c]
    a += own[c]; b2 += ours[c]; all += count[c]; r2 += rules[c]
  }
  printf "%-10s %5d %10.1f %10.1f %6d\n", "all", all, 100 * a / all, 100 * b2 / all, r2
}
