package fakes3

import (
	"encoding/xml"
	"errors"
	"net/http"
)

// checkDeletion refuses what gofakes3 would overlook in the body of a DeleteObjects.
func checkDeletion(body []byte) *refusal {
	var in struct {
		Objects []struct {
			VersionID        string `xml:"VersionId"`
			ETag             *string
			LastModifiedTime *string
			Size             *string
		} `xml:"Object"`
	}
	if err := xml.Unmarshal(body, &in); err != nil {
		return malformedXML(err)
	}
	if n := len(in.Objects); n == 0 || n > 1000 {
		return malformedXML(errors.New("not 1 to 1000 objects"))
	}
	for _, o := range in.Objects {
		switch {
		case o.ETag != nil, o.LastModifiedTime != nil, o.Size != nil:
			return notImplemented("conditions in DeleteObjects")
		case o.VersionID != "" && o.VersionID != "null":
			return notImplemented("versions of objects")
		}
	}
	return nil
}

func malformedXML(err error) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "MalformedXML", message: err.Error()}
}
