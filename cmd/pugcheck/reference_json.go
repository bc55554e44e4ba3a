package main

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
)

// jsonFlag adds --json and returns where its value will be.
func jsonFlag(cmd *cobra.Command, what string) *bool {
	return cmd.Flags().Bool("json", false, "print "+what+" as JSON, an object on each line")
}

// printJSON writes one object and a line end. It is the form of all that the
// reference prints as JSON, names of fields being those of the bucket's documents.
func printJSON(w io.Writer, v any) error {
	line, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
