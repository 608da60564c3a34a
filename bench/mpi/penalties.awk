# What choices cost beside the best one, for tune.sh:
#
#   awk -v own=NAME -f penalties.awk RULES TIMES… FILE-TIMES…
#
# RULES is what taulop tune -tsv prints, TIMES and FILE-TIMES what choices prints, a file a
# round; NAME is the setting that is the library's own choice. A penalty is the time of a
# choice in multiples of that of the best setting, less 1. Settings are held against each other
# within a batch of a pass, in which they ran in turns: a time counts less what the batch took longer
# than others in the mean of its settings, and of batches the median is taken. So a machine that is
# faster for a while disturbs none. Passes are halved by turns: the best of one half is timed by the
# other. A rule's time is that of its setting, forced. With -v ours=file,
# for times with the file that were taken in turns with all others, these stand beside it, in cells
# without a rule too, and are what is held against the library's own choice. With -v least=US
# -v below=US only those batches count before and after which an empty message took from least to
# less than below.
BEGIN { FS = "\t" }
FNR == 1 { file++; split("", pass); if (FILENAME ~ /-file-/) again++; round = again ? again : file - 1 }
file == 1 {
  if (FNR > 1) {
    n_rules++
    rule[n_rules] = $1 SUBSEP $2; from[n_rules] = $3; to[n_rules] = $4
    name[n_rules] = $5 > 0 ? $5 ":" $7 ":" $8 : $6
  }
  next
}
{
  cell = $1 SUBSEP $3 SUBSEP $4
  if (!(cell in known)) { known[cell] = 1; cells[++n] = cell }
  key = cell SUBSEP $2
  if ($5 == 0) pass[key]++
  at = round + pass[key] SUBSEP round SUBSEP pass[key] SUBSEP $5
  if (below && !($7 >= least && $7 < below && $8 >= least && $8 < below)) next
  if (!((cell, $2) in seen)) { seen[cell, $2] = 1; of[cell] = of[cell] " " $2 }
  if (!((cell, at) in met)) { met[cell, at] = 1; passes[cell] = passes[cell] " " at }
  batch[key, at] = $6
}
function median(text, v, k, i, j, x) {
  k = split(text, v, " ")
  for (i = 2; i <= k; i++) {
    x = v[i] + 0
    for (j = i - 1; j > 0 && v[j] + 0 > x; j--) v[j + 1] = v[j]
    v[j + 1] = x
  }
  return k % 2 ? v[(k + 1) / 2] : (v[k / 2] + v[k / 2 + 1]) / 2
}
function chosen(c, p, m, i) {
  for (i = 1; i <= n_rules; i++)
    if (rule[i] == c SUBSEP p && from[i] <= m && m <= to[i]) return name[i]
  return own
}
# compare makes a cell's times, without what batches differ by: all, and by half of the passes.
function compare(cell, v, w, k, l, i, j, sum, had, time, center, t, part) {
  k = split(passes[cell], v, " "); l = split(of[cell], w, " ")
  for (j = 1; j <= l; j++)
    for (i = 1; i <= k; i++)
      if ((cell, w[j], v[i]) in batch) {
        time[j, i] = batch[cell, w[j], v[i]]
        all[cell, w[j]] = all[cell, w[j]] " " time[j, i]
      }
  for (j = 1; j <= l; j++) center[j] = median(all[cell, w[j]])
  for (i = 1; i <= k; i++) {
    sum = had = 0
    for (j = 1; j <= l; j++)
      if (((j, i) in time) && (w[j] != "file" || ours != "") && time[j, i] > 0 && center[j] > 0) {
        sum += log(time[j, i] / center[j]); had++
      }
    for (j = 1; j <= l; j++)
      if (((j, i) in time) && had) {
        t = time[j, i] / exp(sum / had)
        taken[cell, w[j]] = taken[cell, w[j]] " " t
        split(v[i], part, SUBSEP)
        half[cell, w[j], part[1] % 2] = half[cell, w[j], part[1] % 2] " " t
      }
  }
}
# best is the setting of a cell with the least time in one half of the passes.
function best(cell, h, v, k, i, t, least, which) {
  k = split(of[cell], v, " ")
  which = ""
  for (i = 1; i <= k; i++) {
    if (v[i] == "file" || v[i] == "release_gather" || half[cell, v[i], h] == "") continue
    t = median(half[cell, v[i], h])
    if (which == "" || t < least) { least = t; which = v[i] }
  }
  return which
}
function add(c, what, penalty) {
  sum[c, what] += penalty; count[c, what]++
  if (!((c, what) in worst) || penalty > worst[c, what]) worst[c, what] = penalty
}
function weigh(c, what, times) { if (times != "") add(c, what, median(times) / least_time - 1) }
function time_of(cell, name) { return all[cell, name] == "" ? "" : sprintf("%.2f", median(all[cell, name])) }
function mean(c, what) { return count[c, what] ? 100 * sum[c, what] / count[c, what] : 0 }
function shown(c, what) { return !count[c, what] ? "" : sprintf("%.1f (%5.1f)", mean(c, what), 100 * worst[c, what]) }
END {
  for (i = 1; i <= n; i++) {
    cell = cells[i]
    split(cell, part, SUBSEP)
    c = part[1]; p = part[2]; m = part[3]
    if (!(c in found)) { found[c] = 1; order[++kinds] = c }
    compare(cell)
    choice = chosen(c, p, m)
    if (half[cell, own, 0] == "" || half[cell, own, 1] == "") continue
    held = ours != "" && choice != own ? ours : choice
    for (h = 0; h < 2; h++) {
      b = best(cell, 1 - h)
      if (b == "" || half[cell, b, h] == "") continue
      least_time = median(half[cell, b, h])
      weigh(c, "own", half[cell, own, h])
      weigh(c, "ours", half[cell, choice, h])
      if (ours != "") weigh(c, "file", half[cell, "file", h])
    }
    if (taken[cell, held] == "") continue
    change = median(taken[cell, held]) / median(taken[cell, own]) - 1
    add(c, "change", change)
    if (choice != own)
      rows[++n_rows] = sprintf("%-10s %8d  %-40s %9s %9s %9s %7.1f", c, m, choice, \
        time_of(cell, own), time_of(cell, choice), time_of(cell, "file"), 100 * change)
  }
  printf "penalty in %%, mean over cells (worst)\n%-10s %5s %16s %16s %16s %26s\n", "", "cells", \
    "its own choice", "the rules'", ours != "" ? "with the file" : "", "rules against its own, %"
  for (i = 1; i <= kinds; i++) {
    c = order[i]
    printf "%-10s %5d %16s %16s %16s %26s\n", c, count[c, "change"], shown(c, "own"), shown(c, "ours"), shown(c, "file"), shown(c, "change")
    split("own ours file", whats, " ")
    for (w in whats) { sum["all", whats[w]] += sum[c, whats[w]]; count["all", whats[w]] += count[c, whats[w]] }
  }
  printf "%-10s %5s %7.1f %16.1f", "all", "", mean("all", "own"), mean("all", "ours")
  print ours != "" ? sprintf(" %16.1f", mean("all", "file")) : ""
  if (n_rows) {
    printf "\ncells with a rule, µs\n%-10s %8s  %-40s %9s %9s %9s %7s\n", "", "m", "rule", "own", "forced", "by file", "change %"
    for (i = 1; i <= n_rows; i++) print rows[i]
  }
}
