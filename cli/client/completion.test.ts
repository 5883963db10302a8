import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { createProgram } from '../program.ts'
import { completionScript } from './completion.ts'

/** What the shell offers for the last of the words. */
const SHELLS = {
  bash: (script: string, words: readonly string[]) =>
    run('bash', [
      '-c',
      `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _paybell; printf '%s\\n' "\${COMPREPLY[@]}"`,
      'paybell',
      ...words,
    ]),
  fish: (script: string, words: readonly string[]) =>
    run('fish', ['-c', `${script}\ncomplete -C "${words.join(' ')}"`]).map(
      (line) => line.split('\t')[0] as string,
    ),
}

function run(program: string, args: readonly string[]): string[] {
  const output = execFileSync(program, args, { encoding: 'utf8' })
  return output.split('\n').filter((line) => line !== '')
}

function isThere(program: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(`${folder}/${program}`))
}

for (const [shell, complete] of Object.entries(SHELLS)) {
  const skip = isThere(shell) ? false : `${shell} is not on this machine`
  test(`${shell} completes commands, those below them, and options`, { skip }, () => {
    const script = completionScript(shell as keyof typeof SHELLS, createProgram())
    const offers = (...words: string[]) => complete(script, words).toSorted()
    assert.deepEqual(offers('paybell', 'subsc'), ['subscriptions'])
    assert.deepEqual(offers('paybell', 'webhooks', 're'), [
      'register',
      'replay-missing',
      'resume',
      'retry',
    ])
    assert.deepEqual(offers('paybell', 'noti'), ['notices'])
    assert.deepEqual(offers('paybell', 'notices', 's'), ['set'])
    assert.deepEqual(offers('paybell', 'deliveries', 'list', '--st'), ['--state'])
    assert.deepEqual(offers('paybell', '--json', 'clients', 'crea'), ['create'])
  })
}

test('the script for zsh names every command', () => {
  const script = completionScript('zsh', createProgram())
  assert.match(script, /^#compdef paybell\n/)
  assert.match(script, /"webhooks"\) choices=\('register:/)
})
