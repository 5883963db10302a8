// Every route there is.

import '../../test/support/full-size.ts'
import './stretches.test.ts'
