// The recipes for receivers that ask who calls, that in Go too: to compile it takes longer than to run all others.

import '../support/full-size.ts'
import './mtls-recipes.slow.test.ts'
