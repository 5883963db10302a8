// What measures, of the scripts of package.json: each is run small, once, for what it prints and not for how fast it was.

import { testScripts } from './run-tool.ts'
import { MEASURES } from './small-runs.ts'

testScripts(MEASURES)
