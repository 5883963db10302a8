// What is asked of the words of every error.

import assert from 'node:assert/strict'
import { offences } from '../house/user-words.ts'

/** Words that name no fault, and what a library said. */
const INTERNAL = /conform|\bENOENT\b|\bundefined\b|\[object|must NOT| {4}at /

export function assertPlain(what: string, words: string): void {
  assert.doesNotMatch(words, INTERNAL, what)
  assert.deepEqual(offences([{ file: what, line: 1, text: words }]), [])
}
