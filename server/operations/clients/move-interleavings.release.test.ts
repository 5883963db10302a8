// All of the stories.

import '../../../test/support/full-size.ts'
import './move-interleavings.test.ts'
