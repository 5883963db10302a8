// The recipes for v1a in Shell and in the languages that have to be compiled, too: one takes longer than all
// others.

import '../support/full-size.ts'
import './asymmetric-recipes.slow.test.ts'
