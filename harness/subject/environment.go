package subject

import (
	"maps"
	"slices"
	"strings"
)

// Variables that carry credentials for, or the address of, a real object store,
// or that change how an S3 client finds or signs its requests.
var (
	cloudPrefixes = []string{
		"AWS_",                                                   // SDKs and CLI of Amazon S3
		"AZURE_",                                                 // Azure
		"CLOUDSDK_", "GCLOUD_", "GOOGLE_CLOUD_", "GCE_METADATA_", // Google Cloud
		"ALIBABA_CLOUD_", "ALICLOUD_", "OCI_", // others with an S3 interface
		"MINIO_", "MC_HOST_", "RCLONE_", // storage clients
		"S3_", "FSSPEC_S3_", // S3 libraries of several languages
	}
	cloudNames = []string{
		"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CREDENTIALS", "GOOGLE_OAUTH_ACCESS_TOKEN", "STORAGE_EMULATOR_HOST",
		"B2_APPLICATION_KEY_ID", "B2_APPLICATION_KEY", "OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET",
		"BOTO_CONFIG", "BOTO_PATH", "S3CMD_CONFIG",
	}
	proxyNames = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} // and in lower case
)

// isolation keeps the SDKs from the files in the user's home and from the
// metadata service of a cloud machine, which are consulted where variables are
// missing.
var isolation = map[string]string{
	"AWS_CONFIG_FILE":             "/dev/null",
	"AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
	"AWS_EC2_METADATA_DISABLED":   "true",
}

const loopback = "127.0.0.1,localhost,::1"

// Environment returns base without the variables that would lead a program to a
// real cloud, and with those of set. These are left out:
//
//   - all that begin with AWS_, AZURE_, CLOUDSDK_, GCLOUD_, GOOGLE_CLOUD_, GCE_METADATA_,
//     ALIBABA_CLOUD_, ALICLOUD_, OCI_, MINIO_, MC_HOST_, RCLONE_, S3_ and FSSPEC_S3_;
//   - GOOGLE_APPLICATION_CREDENTIALS, GOOGLE_CREDENTIALS, GOOGLE_OAUTH_ACCESS_TOKEN,
//     STORAGE_EMULATOR_HOST, B2_APPLICATION_KEY_ID, B2_APPLICATION_KEY, OSS_ACCESS_KEY_ID,
//     OSS_ACCESS_KEY_SECRET, BOTO_CONFIG, BOTO_PATH, S3CMD_CONFIG.
//
// AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE are set to /dev/null and
// AWS_EC2_METADATA_DISABLED to true. Where a proxy is set, NO_PROXY and no_proxy are
// extended by the loopback addresses. Everything else passes through
// untouched and in its order; set comes last, sorted by name, and wins.
func Environment(base []string, set map[string]string) []string {
	added := maps.Clone(isolation)
	if usesProxy(base) {
		added["NO_PROXY"] = excludeLoopback(base, "NO_PROXY", "no_proxy")
		added["no_proxy"] = excludeLoopback(base, "no_proxy", "NO_PROXY")
	}
	maps.Copy(added, set)
	out := make([]string, 0, len(base)+len(added))
	for _, kv := range base {
		name, _, _ := strings.Cut(kv, "=")
		if _, replaced := added[name]; !replaced && !reachesCloud(name) {
			out = append(out, kv)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(added)) {
		out = append(out, name+"="+added[name])
	}
	return out
}

// Variables are the lines NAME=VALUE of an environment, sorted by name, each with a line
// feed behind it.
func Variables(env map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(env)) {
		b.WriteString(name + "=" + env[name] + "\n")
	}
	return b.String()
}

func reachesCloud(name string) bool {
	return slices.Contains(cloudNames, name) ||
		slices.ContainsFunc(cloudPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

func usesProxy(env []string) bool {
	return slices.ContainsFunc(env, func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return value != "" && slices.Contains(proxyNames, strings.ToUpper(name))
	})
}

// excludeLoopback is the value of the first of the names that is set, with the
// loopback addresses added.
func excludeLoopback(env []string, names ...string) string {
	for _, name := range names {
		for _, kv := range env {
			value, found := strings.CutPrefix(kv, name+"=")
			switch {
			case !found || value == "":
			case strings.TrimSpace(value) == "*":
				return value
			default:
				return value + "," + loopback
			}
		}
	}
	return loopback
}

// setVariable returns env with the one value for name.
func setVariable(env []string, name, value string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if !strings.HasPrefix(kv, name+"=") {
			out = append(out, kv)
		}
	}
	return append(out, name+"="+value)
}
