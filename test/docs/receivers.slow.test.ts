// The receivers in the languages that have to be compiled, too.

import '../support/full-size.ts'
import './receivers.test.ts'
