// 10,000 requests for unknown ids.

import '../../test/support/full-size.ts'
import './metrics.test.ts'
