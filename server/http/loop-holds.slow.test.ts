// Every route there is.

import '../../test/support/full-size.ts'
import './loop-holds.test.ts'
