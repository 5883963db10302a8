// `npm run plans` writes test/plans/snapshots. `npm run plans -- <part of a name>` prints the statements that have it
// in their name, each with its plans in every state that it is looked at in.

import { endDatabases } from '../support/database.ts'
import { renderSnapshots, renderWithPlans, writeSnapshots } from './snapshots.ts'
import { explainStore } from './states.ts'

const [part] = process.argv.slice(2)
const { statements } = await explainStore()
await endDatabases()
if (part === undefined) await writeSnapshots(renderSnapshots(statements))
else {
  const asked = statements.filter(({ name }) => name.includes(part))
  console.log(asked.map(renderWithPlans).join('\n'))
}
// The hooks that drop the databases of a test would have it print a summary of no tests.
process.exit()
