// Words that users do not know, and what to say instead: the table in CONTRIBUTING.md.

import { readText } from './source-files.ts'
import type { UserText } from './user-texts.ts'

interface Word {
  word: string
  say: string
  pattern: RegExp
}

/** The rows of the table. */
function readWords(): Word[] {
  const text = readText('CONTRIBUTING.md')
  const table = text.slice(text.indexOf('| Do not say | Say |')).split('\n\n')[0] as string
  return table
    .split('\n')
    .slice(2)
    .flatMap((row) => {
      const [words, say] = row.slice(2, -2).split(' | ') as [string, string]
      return words.split(', ').map((word) => ({ word, say, pattern: toPattern(word) }))
    })
}

/** Lines are wrapped anywhere. */
function toPattern(word: string): RegExp {
  return new RegExp(`\\b${word.replaceAll(' ', '\\s+')}\\b`)
}

export const words = readWords()

export function offences(texts: readonly UserText[]): string[] {
  return texts.flatMap(({ file, line, text }) =>
    words
      .filter(({ pattern }) => pattern.test(text))
      .map(({ word, say }) => `${file}:${line} says "${word}": say ${say}`),
  )
}
