import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { addMissingLinks } from './library-links.ts'

/** As npm unpacks the package: the list, and no links. */
async function unpack(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'paybell-links-'))
  t.after(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'lib'))
  await writeFile(join(folder, 'lib/libpq.so.5.18'), '')
  const links = [
    { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so.5' },
    { source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so' },
  ]
  await writeFile(join(folder, 'pg-symlinks.json'), JSON.stringify(links))
  return folder
}

test('links that no install script has made are made, and those that are there stay', async (t) => {
  const folder = await unpack(t)
  await symlink('elsewhere', join(folder, 'lib/libpq.so'))
  addMissingLinks(folder)
  addMissingLinks(folder)
  assert.equal(await readlink(join(folder, 'lib/libpq.so.5')), 'libpq.so.5.18')
  assert.equal(await readlink(join(folder, 'lib/libpq.so')), 'elsewhere')
})

test('a folder that cannot be written to, and one without a list, are left alone', async (t) => {
  const folder = await unpack(t)
  await chmod(join(folder, 'lib'), 0o555)
  addMissingLinks(folder)
  await chmod(join(folder, 'lib'), 0o755)
  await rm(join(folder, 'pg-symlinks.json'))
  addMissingLinks(folder)
})
