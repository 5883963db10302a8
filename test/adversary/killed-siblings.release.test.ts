// A hundred kills.

import '../support/full-size.ts'
import './killed-siblings.slow.test.ts'
