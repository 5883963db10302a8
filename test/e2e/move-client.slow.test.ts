// To another database, and to a node of a cluster.

import '../support/full-size.ts'
import './move-client.test.ts'
