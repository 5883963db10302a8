// The recipes for v1a in the languages that have to be compiled, too: to compile one takes longer than to run all
// others.

import '../support/full-size.ts'
import './asymmetric-recipes.test.ts'
