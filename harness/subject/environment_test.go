package subject

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	base := []string{
		"PATH=/bin", "AWS_PROFILE=work", "AWS_ENDPOINT_URL_S3=https://s3", "HOME=/root", "GOOGLE_APPLICATION_CREDENTIALS=/k",
		"CLOUDSDK_CONFIG=/c", "AZURE_STORAGE_KEY=k", "MC_HOST_x=https://", "ANTHROPIC_API_KEY=1", "AWSOME=yes", "S3_ENDPOINT=https://x",
		"EMPTY=", "TWICE=1", "TWICE=2", "odd", "LD_PRELOAD=",
	}
	got := Environment(base, map[string]string{"AWS_REGION": "us-east-1", "HOME": "/tmp", "AWS_CONFIG_FILE": "/my"})
	want := []string{
		"PATH=/bin", "ANTHROPIC_API_KEY=1", "AWSOME=yes", "EMPTY=", "TWICE=1", "TWICE=2", "odd", "LD_PRELOAD=",
		"AWS_CONFIG_FILE=/my", "AWS_EC2_METADATA_DISABLED=true", "AWS_REGION=us-east-1", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "HOME=/tmp",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestEnvironmentProxies(t *testing.T) {
	for _, c := range []struct{ base, upper, lower string }{
		{"", "", ""},
		{"NO_PROXY=x", "x", ""}, // no proxy: untouched
		{"https_proxy=", "", ""},
		{"https_proxy=http://p", loopback, loopback},
		{"HTTP_PROXY=http://p no_proxy=corp", "corp," + loopback, "corp," + loopback},
		{"ALL_PROXY=http://p NO_PROXY=a no_proxy=b", "a," + loopback, "b," + loopback},
		{"HTTP_PROXY=http://p NO_PROXY=*", "*", "*"},
	} {
		got := Environment(strings.Fields(c.base), nil)
		for name, want := range map[string]string{"NO_PROXY": c.upper, "no_proxy": c.lower} {
			var values []string
			for _, kv := range got {
				if v, ok := strings.CutPrefix(kv, name+"="); ok {
					values = append(values, v)
				}
			}
			if v := strings.Join(values, " and "); v != want {
				t.Errorf("%q: %s is %q, want %q", c.base, name, v, want)
			}
		}
	}
}

func TestEnvironmentIsWhatTheProcessGets(t *testing.T) {
	t.Setenv("AWS_PROFILE", "work")
	t.Setenv("MINE", "kept")
	p := start(t, Command{Argv: []string{"env"}, Env: Environment(append(os.Environ(), "X=y"), nil)})
	wait(t, p)
	out := p.Stdout().String()
	if strings.Contains(out, "AWS_PROFILE") || !strings.Contains(out, "MINE=kept\n") || !strings.Contains(out, "X=y\n") ||
		strings.Count(out, CookieVariable+"="+RunCookie()+".") != 1 {
		t.Error(out)
	}
}
