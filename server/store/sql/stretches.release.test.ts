// A whole year of days.

import '../../../test/support/full-size.ts'
import './stretches.test.ts'
