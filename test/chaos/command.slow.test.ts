// `npm run chaos`, small, with nothing beside it.

import { testScripts } from '../tools/run-tool.ts'

testScripts({
  chaos: {
    args: ['--suite', 'smoke', '--seconds', '3', '--seed', '11', '--quiet'],
    prints: /delivered/,
  },
})
