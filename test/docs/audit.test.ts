// The Python of docs/audit.md, as it stands there, on an export of ours: an outsider computes the same digests.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { OPERATOR_KEY } from '../support/injected-server.ts'
import { startSealedAudit } from '../support/sealed-audit.ts'

const run = promisify(execFile)
const GUIDE = readFileSync(new URL('../../docs/audit.md', import.meta.url), 'utf8')
const PYTHON = /^```python\n(.*?)^```$/ms.exec(GUIDE)?.[1] ?? ''

test('the Python of the guide recomputes an export, and finds an altered one', async (t) => {
  const hasPython = await run('python3', ['--version']).then(
    () => true,
    () => false,
  )
  if (!hasPython) return t.skip('there is no python3')
  const sealed = await startSealedAudit(t)
  // Everything that is spelt differently somewhere: quotes, backslashes, other alphabets, control characters.
  for (const object of ['client:1!', 'naïve "☂" \\ \u0001\u007f\u2028 !', 'client:3', '🎈']) {
    await sealed.audit(object)
  }
  await sealed.seal(2)
  const headers = { authorization: `Bearer ${OPERATOR_KEY}` }
  const get = (path: string) => sealed.app.inject({ url: `/operator/v1/audit/${path}`, headers })
  const exported = (await get('export')).body
  const dir = mkdtempSync(join(tmpdir(), 'paybell-audit-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const check = (text: string) => {
    writeFileSync(join(dir, 'audit.ndjson'), text)
    return run('python3', ['-c', PYTHON, join(dir, 'audit.ndjson')])
  }
  const { stdout } = await check(exported)
  assert.equal(stdout.trim(), `head ${(await get('head')).json().digest}`)
  const altered = exported.replace('"actor":"operator"', '"actor":"another"')
  await assert.rejects(check(altered), /segment 1 was altered/)
  const cut = exported.split('\n').filter((line) => !line.includes('"segment":1,'))
  await assert.rejects(check(cut.join('\n')), /was altered|does not continue/)
})
