package memory

// Len counts the records that are held, expired ones that nobody has swept yet among them.
func (s *Store) Len() int {
	n := 0
	for i := range s.of {
		s.of[i].mu.RLock()
		n += len(s.of[i].records)
		s.of[i].mu.RUnlock()
	}
	return n
}
