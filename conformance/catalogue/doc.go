// Package catalogue holds the normative statements of a specification as data:
// what each clause demands, of whom, how it is judged, and on which readings
// of unclear text the judgement rests. It knows the form of a catalogue and
// nothing of any one specification; the data comes from YAML files.
//
// A loaded catalogue is complete and consistent. [Load] refuses unknown and
// missing keys, values outside the enumerations and the declared vocabulary,
// duplicate identifiers, entries out of order, and references that lead
// nowhere, each with file and line, and all of them at once. So whoever holds
// a [Catalogue] may look up every identifier that it mentions.
//
// A file is a mapping with any of these keys:
//
//	title       what the file's sections are headed by
//	sections    list of {id, title}, in the order of the text
//	terms       list of {term, says}: words that the file's checks use
//	vocabulary  for each of subject, observe and suites: word → meaning
//	clauses     list of clauses, in the order of the text
//	readings    list of readings and findings
//
// A section is named by letters and numbers (S6.3), a clause by its section
// and a number (S6.3-1), a reading by letters and a number.
package catalogue
