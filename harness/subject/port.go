package subject

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports that systems by default hand out neither to listeners without a port of
// their own nor to outgoing connections (Linux: 32768 and up, others: 49152 and up).
const firstFixedPort, endOfFixedPorts = 10240, 32768

// FreePort is a TCP port on the loopback interface that a subject can be told to
// listen on: nobody listens on it now, and nobody else is given it by chance before
// the subject has come up. An error says that there is none.
func FreePort() (int, error) {
	var last error
	for range 100 {
		port := firstFixedPort + rand.IntN(endOfFixedPorts-firstFixedPort)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			last = err
			continue
		}
		if err := l.Close(); err != nil {
			return 0, fmt.Errorf("a free port: %w", err)
		}
		return port, nil
	}
	return 0, fmt.Errorf("no free port between %d and %d: %w", firstFixedPort, endOfFixedPorts, last)
}
