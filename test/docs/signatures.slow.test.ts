// The recipes of docs/signatures.md in the languages that have to be compiled, too: to compile one takes longer than to
// run all others.

import '../support/full-size.ts'
import './signatures.test.ts'
