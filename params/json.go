package params

// CheckJSON refuses a document of another kind as Read does a parameter file: what is
// cut or no JSON, names that are there twice, of which nobody knows the one that
// counts, brackets without end, and lists of CPUs that unfold to something absurd. An
// error says in which line of name it is.
func CheckJSON(text, name string) error {
	s := scanner{name: name, text: text}
	if s.value(0); s.err == nil && s.peek() != 0 {
		s.unexpected("the end of the file")
	}
	if s.err == nil {
		if err := checkLists(text); err != nil {
			s.fail(0, "%w", err)
		}
	}
	return s.err
}
