// Thousands of deliveries.

import '../support/full-size.ts'
import './exactly-once.slow.test.ts'
