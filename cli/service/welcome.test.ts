import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandOf, welcomeText } from './welcome.ts'

test('regression: the welcome names the command as it can be called, and never a package that npm would look for', () => {
  const packed = { npm_command: 'exec', npm_config_package: './paybell-0.2.0.tgz' }
  const cases = [
    [packed, 'npx --package=./paybell-0.2.0.tgz paybell'],
    [{ npm_command: 'exec', npm_lifecycle_event: 'npx' }, 'npx paybell'],
    [{ npm_command: 'exec', npm_config_package: "x' ; y" }, 'npx paybell'],
    [{ npm_command: 'start', npm_lifecycle_event: 'start' }, 'npx paybell'],
    [{ npm_command: 'run-script', npm_lifecycle_event: 'test' }, 'paybell'],
    [{}, 'paybell'],
  ] as const
  for (const [env, command] of cases) assert.equal(commandOf(env), command)
})

test('what hints call paybell is one paste away, and only where it is not on the path', () => {
  const of = {
    baseUrl: 'http://127.0.0.1:8080',
    signInUrl: 'http://127.0.0.1:8080/console/sign-in#x',
    operatorKey: 'pbo_x',
    clientId: '01a1dd3c-57d6-7001-9e6f-60de241483ec',
    clientSecret: 'pbs_x',
    accountId: '01a1dd3c-57d6-7001-9e6f-60de241483ed',
    path: '.paybell/sandbox.json',
    database: 'PostgreSQL 18.4, embedded',
    readyInMs: 2_400,
  }
  const text = welcomeText({ ...of, command: 'npx paybell' })
  assert.match(text, /^ {2}npx paybell demo {7}a receiver/m)
  assert.match(text, /^ {2}alias paybell='npx paybell'/m)
  assert.doesNotMatch(welcomeText({ ...of, command: 'paybell' }), /alias/)
})
