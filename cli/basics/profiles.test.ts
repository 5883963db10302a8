import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Profiles } from './profiles.ts'

const SERVICE = { baseUrl: 'https://live.example', clientId: 'c', clientSecret: 's' }

async function makeProfiles(t: TestContext): Promise<Profiles> {
  const dir = await mkdtemp(join(tmpdir(), 'paybell-profiles-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  return new Profiles(dir)
}

test('the first profile is the default one, until another is chosen or it is removed', async (t) => {
  const profiles = await makeProfiles(t)
  assert.equal(await profiles.find(null), null)
  await profiles.save('live', SERVICE)
  await profiles.save('test', { ...SERVICE, baseUrl: 'https://test.example' })
  assert.equal((await profiles.find(null))?.name, 'live')
  assert.equal((await profiles.find('test'))?.service.baseUrl, 'https://test.example')
  assert.equal(await profiles.use('test'), true)
  assert.equal((await profiles.find(null))?.name, 'test')
  assert.equal(await profiles.remove('test'), true)
  assert.equal(await profiles.find(null), null)
  assert.deepEqual(
    (await profiles.list()).map(({ name }) => name),
    ['live'],
  )
  assert.equal(await profiles.use('gone'), false)
  assert.equal(await profiles.remove('gone'), false)
})

test('regression: a name that every object of JavaScript has is not a profile', async (t) => {
  const profiles = await makeProfiles(t)
  await profiles.save('live', SERVICE)
  assert.equal(await profiles.use('constructor'), false)
  assert.equal(await profiles.remove('toString'), false)
  assert.equal((await profiles.find(null))?.name, 'live')
  await profiles.save('constructor', SERVICE)
  assert.equal(await profiles.remove('constructor'), true)
})

test('only its owner can read the file, and what is saved again replaces the old', async (t) => {
  const profiles = await makeProfiles(t)
  await profiles.save('live', { ...SERVICE, accountId: 'a' })
  await profiles.save('live', SERVICE)
  assert.deepEqual((await profiles.find('live'))?.service, SERVICE)
  assert.equal((await stat(profiles.path)).mode & 0o777, 0o600)
})

test('there is an end to profiles', async (t) => {
  const profiles = await makeProfiles(t)
  for (let n = 0; n < 100; n++) await profiles.save(`p${n}`, SERVICE)
  await assert.rejects(profiles.save('one-more', SERVICE), /there are 100 profiles/)
  await profiles.save('p7', SERVICE)
})
