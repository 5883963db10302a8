// npm packs and installs the SDK, and programs of every kind compile and run.

import '../support/full-size.ts'
import './sdk-consumers.slow.test.ts'
