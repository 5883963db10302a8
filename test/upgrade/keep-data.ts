// `node test/upgrade/keep-data.ts` with each release: has the version before make a client with a webhook, and keeps
// the rows as it wrote them, with the keys that open them, in test/upgrade/made-before.json, or in the file that is given. They are for tests that
// have no history to take that version from; none of these secrets opens anything else.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../../server/embedded/database.ts'
import { createPool } from '../../server/store/connection/db.ts'
import { collectCleanUps } from '../support/owner.ts'
import { Interface } from './interface.ts'
import { type DataBefore, KEPT_TABLES, MADE_BEFORE } from './made-before.ts'
import { Processes } from './processes.ts'
import { BEFORE, unpackVersionBefore } from './version-before.ts'

const SHARED_KEY = 'a key of the version before'

const [file = MADE_BEFORE] = process.argv.slice(2)
const owner = collectCleanUps()
try {
  const dataDir = await mkdtemp(join(tmpdir(), 'paybell-made-before-'))
  owner.after(() => rm(dataDir, { recursive: true, force: true }))
  const database = await startEmbedded({ dataDir, log: () => {}, ephemeral: true })
  owner.after(() => database.stop())
  const pool = createPool({
    url: database.url,
    connectionsMax: 2,
    onIdleError: () => {},
    applicationName: 'paybell test',
  })
  owner.after(() => pool.end())
  const masterKey = randomBytes(32).toString('base64')
  const operatorKey = randomBytes(32).toString('base64url')
  const processes = new Processes(
    unpackVersionBefore(owner),
    {
      PORT: '0',
      DATABASE_URL: database.url,
      PAYBELL_MASTER_KEY: masterKey,
      PAYBELL_OPERATOR_KEY: operatorKey,
      PAYBELL_ALLOWED_NETWORKS: '127.0.0.0/8',
    },
    pool,
  )
  owner.after(() => processes.endAll())
  await processes.start('old')
  const callers = new Interface(processes, operatorKey)
  await callers.takeClient()
  await callers.register('https://127.0.0.1:9/hook', SHARED_KEY)
  const tables: Record<string, object[]> = {}
  for (const table of KEPT_TABLES) {
    const { rows } = await pool.query<{ row: object }>(
      `select to_jsonb(r) as row from paybell.${table} r order by r`,
    )
    tables[table] = rows.map(({ row }) => row)
  }
  const kept: DataBefore = {
    version: BEFORE.version,
    masterKey,
    sharedKey: SHARED_KEY,
    client: callers.client,
    tables,
  }
  await writeFile(file, `${JSON.stringify(kept, null, 2)}\n`)
  const rows = Object.values(tables).reduce((sum, of) => sum + of.length, 0)
  console.log(`${rows} rows of ${BEFORE.version} are kept in ${file}`)
} finally {
  await owner.cleanUp()
}
