package export

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
)

// The exporters that there are.
const (
	console  = "console"
	otlpHTTP = "OTLP/HTTP"
	otlpGRPC = "OTLP/gRPC"
)

// exporters are those that the environment asks for. As everywhere with these
// variables, an empty one counts as missing.
func exporters() ([]string, error) {
	if strings.EqualFold(setting("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	const variable = "OTEL_TRACES_EXPORTER"
	list := setting(variable)
	if list == "" && endpoint() != "" {
		list = "otlp"
	}
	var wanted []string
	for name := range strings.SplitSeq(list, ",") {
		switch name = strings.TrimSpace(name); name {
		case "":
			continue
		case "none":
			return nil, nil
		case console:
		case "otlp":
			var err error
			if name, err = otlp(); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%s=%s: %q is not supported: want otlp, console or none", variable, list, name)
		}
		if !slices.Contains(wanted, name) {
			wanted = append(wanted, name)
		}
	}
	return wanted, nil
}

// otlp is the exporter for the protocol that the environment asks for.
func otlp() (string, error) {
	variable := firstSet("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	switch protocol := setting(variable); protocol {
	case "grpc":
		return otlpGRPC, nil // its endpoint may be anything that gRPC can resolve
	case "", "http/protobuf", "http/json":
	default:
		return "", fmt.Errorf("%s=%s is not supported: want http/protobuf, http/json or grpc", variable, protocol)
	}
	if variable := endpoint(); variable != "" {
		u, err := url.Parse(setting(variable))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return "", fmt.Errorf("%s=%s: want http://HOST:PORT or https://HOST:PORT", variable, setting(variable))
		}
	}
	return otlpHTTP, nil
}

// endpoint is the variable that names the receiver, "" where none does.
func endpoint() string {
	return firstSet("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
}

// firstSet is the first of the variables that is set, "" where none is.
func firstSet(variables ...string) string {
	for _, v := range variables {
		if setting(v) != "" {
			return v
		}
	}
	return ""
}

func setting(variable string) string { return strings.TrimSpace(os.Getenv(variable)) }
