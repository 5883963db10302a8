// The words of errors, kept as a text that a person reads: what was done, and what the answer says. A change of words
// is a change of that file, looked at and kept by `PAYBELL_KEEP_WORDS=1`.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const UUID = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g

/** The wrong request or command, and what came back. */
export type Told = readonly [what: string, words: string]

export function assertKept(file: string, told: readonly Told[]): void {
  const path = fileURLToPath(new URL(file, import.meta.url))
  const text = told.map(([what, words]) => `${what}\n${indent(words)}\n`).join('\n')
  const plain = text.replaceAll(UUID, '<id>')
  if (process.env.PAYBELL_KEEP_WORDS === '1') writeFileSync(path, plain)
  assert.equal(plain, readFileSync(path, 'utf8'))
}

/** What no error may say: words that name no fault, and what a library said. */
export function assertPlain([what, words]: Told): void {
  assert.doesNotMatch(words, /conform|\bENOENT\b|\bundefined\b|\[object|must NOT| {4}at /, what)
}

function indent(words: string): string {
  return words
    .trim()
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
}
