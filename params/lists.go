package params

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// mostListed is more CPUs than all lists of a machine name together.
const mostListed = 1 << 22

// checkLists refuses JSON whose strings, read as lists of CPUs, would unfold to
// something absurd: "0-8191" is short, and a file holds a million of it.
func checkLists(text string) error {
	total := 0
	for {
		begin := strings.IndexByte(text, '"')
		if begin < 0 {
			return nil
		}
		text = text[begin+1:]
		end := endOfString(text)
		list := text[:end]
		text = text[min(end+1, len(text)):]
		if strings.IndexByte(list, '\\') >= 0 {
			var plain string
			if json.Unmarshal([]byte(`"`+list+`"`), &plain) == nil {
				list = plain
			}
		}
		if total += unfolded(list); total > mostListed {
			return fmt.Errorf("its lists of CPUs name more than %d in all", mostListed)
		}
	}
}

// endOfString is where the quote is that ends it.
func endOfString(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}

// unfolded is how many CPUs a list has, 0 of what is no list.
func unfolded(list string) (n int) {
	for field := range strings.SplitSeq(list, ",") {
		low, high, ranged := strings.Cut(strings.TrimSpace(field), "-")
		first, err := strconv.Atoi(low)
		if err != nil {
			return n
		}
		n++
		if last, err := strconv.Atoi(high); ranged && err == nil {
			n += min(max(0, last-first), mostListed)
		}
		if n > mostListed {
			return n
		}
	}
	return n
}
