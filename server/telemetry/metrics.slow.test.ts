// 10,000 requests for ids that nobody knows.

import '../../test/support/full-size.ts'
import './metrics.test.ts'
