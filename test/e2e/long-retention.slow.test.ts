// A year of history.

import '../support/full-size.ts'
import './long-retention.test.ts'
