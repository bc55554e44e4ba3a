package profile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Template is a command line with placeholders, word by word.
//
// A placeholder is a lower-case name in braces; "{{name}}" stands for the text
// "{name}", and braces around anything else are ordinary text. A placeholder
// that has several words ({runtime}, {handler}, {files}, {handlers}) and is the
// whole of an item expands to as many words, perhaps none; inside a longer word
// the words are joined, quoted for a shell. "--" before an item {handler} that
// expands to nothing is left out.
type Template []Item

// Item is one word, or a group of words that is left out when a placeholder in
// it has no value, and repeated for each value of {metadata}.
type Item struct {
	Word  string
	Group []string
}

// MarshalJSON writes a word as a string and a group as a list.
func (i Item) MarshalJSON() ([]byte, error) {
	if i.Group != nil {
		return json.Marshal(i.Group)
	}
	return json.Marshal(i.Word)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (i *Item) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, &i.Group)
	}
	return json.Unmarshal(b, &i.Word)
}

// Values are what the placeholders stand for in one command.
type Values struct {
	Runtime    []string       // {runtime}
	HandlerArg Template       // shape of each element of {handlers}
	Session    string         // {session}
	Bucket     string         // {bucket}: s3://BUCKET/PREFIX or a directory
	Endpoint   string         // {endpoint}: URL of the S3 server
	Region     string         // {region}
	AccessKey  string         // {access_key}
	SecretKey  string         // {secret_key}
	Handler    []string       // {handler}: argv, or one URL; empty = no default handler
	Handlers   []NamedHandler // {handlers}

	Agent       string   // {agent}
	HandlerName string   // {handler_name}
	Name        string   // {name}
	From, To    string   // {from} {to}
	Type        string   // {type}
	ContentType string   // {content_type}
	Version     string   // {version}, decimal
	Metadata    []string // {metadata}: K=V each
	Files       []string // {files}
}

// NamedHandler is a handler that is registered under a name.
type NamedHandler struct {
	Name    string
	Command []string
}

// lookup gives the words of a placeholder. many tells that it is a list by nature.
func (v Values) lookup(name string) (values []string, many, known bool) {
	one := func(s string) ([]string, bool, bool) {
		if s == "" {
			return nil, false, true
		}
		return []string{s}, false, true
	}
	switch name {
	case "runtime":
		return v.Runtime, true, true
	case "handler":
		return v.Handler, true, true
	case "files":
		return v.Files, true, true
	case "metadata":
		return v.Metadata, true, true
	case "session":
		return one(v.Session)
	case "bucket":
		return one(v.Bucket)
	case "endpoint":
		return one(v.Endpoint)
	case "region":
		return one(v.Region)
	case "access_key":
		return one(v.AccessKey)
	case "secret_key":
		return one(v.SecretKey)
	case "agent":
		return one(v.Agent)
	case "handler_name":
		return one(v.HandlerName)
	case "name":
		return one(v.Name)
	case "from":
		return one(v.From)
	case "to":
		return one(v.To)
	case "type":
		return one(v.Type)
	case "content_type":
		return one(v.ContentType)
	case "version":
		return one(v.Version)
	}
	return nil, false, false
}

// Expand makes the argument vector. It fails where a placeholder outside a group
// has no value, or is unknown; the error names the placeholder and the word.
func Expand(t Template, v Values) ([]string, error) {
	argv := []string{}
	for i, item := range t {
		if item.Group != nil {
			group, err := expandGroup(item.Group, v)
			if err != nil {
				return nil, err
			}
			argv = append(argv, group...)
			continue
		}
		switch item.Word {
		case "{handlers}":
			named, err := expandHandlers(v)
			if err != nil {
				return nil, err
			}
			argv = append(argv, named...)
		case "{runtime}", "{handler}", "{files}", "{metadata}":
			values, _, _ := v.lookup(strings.Trim(item.Word, "{}"))
			if item.Word == "{handler}" && len(values) == 0 && i > 0 && t[i-1].Word == "--" {
				argv = argv[:len(argv)-1]
			}
			argv = append(argv, values...)
		default:
			word, err := expandWord(item.Word, v)
			if err != nil {
				return nil, err
			}
			argv = append(argv, word)
		}
	}
	return argv, nil
}

// expandGroup drops the group where a placeholder has no value and repeats it
// for each value of {metadata}.
func expandGroup(group []string, v Values) ([]string, error) {
	repeat := []string{""}
	for _, word := range group {
		for _, name := range placeholders(word) {
			values, _, _ := v.lookup(name)
			if len(values) == 0 {
				return nil, nil
			}
			if name == "metadata" {
				repeat = values
			}
		}
	}
	var out []string
	for _, m := range repeat {
		v.Metadata = []string{m}
		for _, word := range group {
			w, err := expandWord(word, v)
			if err != nil {
				return nil, err
			}
			out = append(out, w)
		}
	}
	return out, nil
}

// expandHandlers repeats the handler argument for each named handler.
func expandHandlers(v Values) ([]string, error) {
	var out []string
	for _, h := range v.Handlers {
		for _, item := range v.HandlerArg {
			out = append(out, substitute(item.Word, func(name string) string {
				if name == "name" {
					return h.Name
				}
				return Quote(h.Command)
			}))
		}
	}
	return out, nil
}

// expandWord replaces the placeholders inside one word.
func expandWord(word string, v Values) (string, error) {
	var err error
	out := substitute(word, func(name string) string {
		values, many, known := v.lookup(name)
		switch {
		case !known:
			err = fmt.Errorf("unknown placeholder {%s} in %q", name, word)
		case len(values) == 0 && !many:
			err = fmt.Errorf("{%s} has no value here, in %q", name, word)
		case name == "metadata" && len(values) == 1: // of a group that is repeated for each
			return values[0]
		case many:
			return Quote(values)
		default:
			return values[0]
		}
		return ""
	})
	return out, err
}

// pattern finds "{{name}}" and "{name}". It is built on first use, since probes
// share this binary's start-up time.
var pattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{[a-z_]+\}\}|\{[a-z_]+\}`)
})

func substitute(word string, value func(name string) string) string {
	return pattern().ReplaceAllStringFunc(word, func(m string) string {
		if strings.HasPrefix(m, "{{") {
			return m[1 : len(m)-1]
		}
		return value(m[1 : len(m)-1])
	})
}

// placeholders lists the names in one word, escaped ones left out.
func placeholders(word string) []string {
	var names []string
	substitute(word, func(name string) string { names = append(names, name); return "" })
	return names
}

// uses tells whether any word of the template has the placeholder.
func (t Template) uses(name string) bool {
	for _, item := range t {
		for _, word := range append([]string{item.Word}, item.Group...) {
			if slices.Contains(placeholders(word), name) {
				return true
			}
		}
	}
	return false
}

// Quote joins words to one line that a POSIX shell, or a splitter that follows
// its rules, takes apart into the same words.
func Quote(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quoteWord(w)
	}
	return strings.Join(quoted, " ")
}

func quoteWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r)
	}
	if w != "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
