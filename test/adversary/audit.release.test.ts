// What `paybell audit verify` says of an export that someone has had in their hands: every forgery of the table, with keys
// and a head that were kept elsewhere, by the command's own exit code.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { callCommand } from '../support/called-command.ts'
import { type KeptAudit, keepAudit } from '../support/kept-audit.ts'
import { FORGERIES } from './audit-forgeries.ts'

const EXIT_CODES = { valid: 0, partial: 3, invalid: 1 }
const dir = mkdtempSync(join(tmpdir(), 'paybell-forgeries-'))
let kept: KeptAudit

before(async () => {
  kept = await keepAudit()
})
after(async () => {
  rmSync(dir, { recursive: true })
  await kept.end()
})

for (const forgery of FORGERIES) {
  test(`regression: ${forgery.name}: ${forgery.verdict}`, async () => {
    const file = (name: string, content: string) => {
      writeFileSync(join(dir, name), content)
      return join(dir, name)
    }
    const head = forgery.head ? forgery.head(kept) : kept.head
    const { code, stdout, stderr } = await callCommand([
      ...['audit', 'verify', file('audit.ndjson', await forgery.forge(kept)), '--json'],
      ...['--keys', file('keys.json', JSON.stringify(kept.keys))],
      ...(head === null ? [] : ['--head', file('head.json', JSON.stringify(head))]),
    ])
    assert.equal(code, EXIT_CODES[forgery.verdict], stdout + stderr)
    const said = JSON.parse(stdout)
    assert.deepEqual(
      [said.verdict, said.valid, said.finding?.code],
      [forgery.verdict, forgery.verdict === 'valid', forgery.code],
      stdout,
    )
    if (said.finding) return
    assert.equal(said.dropped.length > 0, forgery.verdict === 'partial')
  })
}
