package params

// Transfers are the transfers of a file of one setup, placement, state of the
// cache and size m, for every τ there is, rising.
type Transfers struct {
	Key           // of all, its Tau 0
	Cells []*Cell // L(m,1), L(m,2) …; the column τ = 1 is as in File.Table
}

// Transfers are all of a file, setup by setup, placement by placement, in cache
// before off cache, m rising. It needs no complete file.
func (f *File) Transfers() []Transfers {
	var all []Transfers
	for _, key := range f.tables() {
		g := f.transfers(TransferCell, key.Setup, key.Placement, key.OffCache)
		for _, key.Bytes = range g.sizes {
			t := Transfers{Key: key}
			for _, tau := range g.taus {
				if c := g.cells[[2]int{key.Bytes, tau}]; c != nil {
					t.Cells = append(t.Cells, c)
				}
			}
			all = append(all, t)
		}
	}
	return all
}
