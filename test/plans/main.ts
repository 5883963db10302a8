// `npm run plans` prints the SQL of every statement of the store, as it is sent, to be read, compared with that of
// another commit or pasted into psql. `npm run plans -- <part of a name>` prints those that have it in their name, each
// with its plans in every state that it is looked at in.

import { endDatabases } from '../support/database.ts'
import { renderStatement, renderWithPlans, SESSION } from './shown.ts'
import { explainStore, readStatements } from './states.ts'

const [part] = process.argv.slice(2)
const shown =
  part === undefined
    ? (await readStatements()).map(renderStatement)
    : (await explainStore()).statements
        .filter(({ name }) => name.includes(part))
        .map(renderWithPlans)
await endDatabases()
if (shown.length === 0) console.error(`No statement has ${part} in its name.`)
else process.stdout.write([SESSION, ...shown].join('\n'))
// The hooks that drop the databases of a test would have it print a summary of no tests.
process.exit(shown.length === 0 ? 1 : 0)
