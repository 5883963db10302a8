// npm packs and installs the SDK, and every Node of this machine from 20 on runs it.

import '../support/full-size.ts'
import './sdk-from-scratch.test.ts'
