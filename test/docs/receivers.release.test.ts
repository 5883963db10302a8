// The receivers in Shell and in the languages that have to be compiled, too.

import '../support/full-size.ts'
import './receivers.slow.test.ts'
