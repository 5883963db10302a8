// The recipes of docs/signatures.md in Shell and in the languages that have to be compiled, too: one takes longer than all
// others.

import '../support/full-size.ts'
import './signatures.slow.test.ts'
