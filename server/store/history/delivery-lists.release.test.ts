// More questions at random.

import '../../../test/support/full-size.ts'
import './delivery-lists.test.ts'
