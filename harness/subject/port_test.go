package subject

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
)

// What is given out can be listened on, and is nothing that the system gives out by itself.
func TestFreePort(t *testing.T) {
	low := 32768
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		low, _ = strconv.Atoi(strings.Fields(string(text))[0])
	}
	for range 20 {
		port, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if low >= endOfFixedPorts && port >= low {
			t.Errorf("port %d is among those that the system gives out from %d", port, low)
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
}
