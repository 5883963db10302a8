// 100,000 lines, killed and resumed.

import '../support/full-size.ts'
import './payments-import.slow.test.ts'
