// Every byte at every place.

import '../../../test/support/full-size.ts'
import './answer-reader.fuzz.test.ts'
