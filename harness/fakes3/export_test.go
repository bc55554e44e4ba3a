package fakes3

import "net/http"

// Handler is the server without its listener, for tests over TLS.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }
