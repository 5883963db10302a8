// The texts that users read, taken from the sources: help, strings, problem texts, pages. Code and comments
// are left out, as are names in code marks, which are wire names.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface UserText {
  file: string
  line: number
  text: string
}

/** Comments, so that they are passed over, and strings of one line or several. */
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g
const JSX_TEXT = /(?<=>)[^<>{}=;]+(?=[<{])/g

/** Strings with a space in them, and what stands between tags: single words are names or values. */
export function textsOfSource(file: string): UserText[] {
  const source = readFileSync(join(ROOT, file), 'utf8')
  const strings = [...source.matchAll(TOKEN)].filter(
    ([token]) => !token.startsWith('/') && /\w \w/.test(token),
  )
  const jsx = file.endsWith('x') ? [...source.matchAll(JSX_TEXT)] : []
  return [...strings, ...jsx].map((match) =>
    at(file, source, match.index, match[0].replaceAll(/\$\{[^}]*\}/g, '…')),
  )
}

/** Paragraphs of a page, without code and addresses. */
export function textsOfPage(file: string): UserText[] {
  const source = readFileSync(join(ROOT, file), 'utf8')
  const prose = source
    .replaceAll(/^( *)```.*?^\1```$/gms, blank)
    .replaceAll(/`[^`]+`/g, blank)
    .replaceAll(/\]\([^)]+\)/g, blank)
  return [...prose.matchAll(/(?:.+\n?)+/g)].map((match) => at(file, prose, match.index, match[0]))
}

/** As long as it was, so that lines keep their numbers. */
function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ')
}

function at(file: string, source: string, index: number, text: string): UserText {
  return { file, line: source.slice(0, index).split('\n').length, text }
}

export function filesUnder(folder: string, pattern: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((name) => pattern.test(name) && !/node_modules|\/dist\/|\.test\.tsx?$/.test(name))
    .sort()
}
