// `npm run licences`: rewrites THIRD-PARTY-LICENSES.md, the licence of every package of others in what we publish,
// with the texts of those whose code is inside our own files. A licence that is not in the list is refused. With `--check` it
// is compared only.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PUBLISHED, type Published, type Shipped, shippedIn } from './shipped.ts'
import { isCheckOnly, writeChanged } from './write-changed.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const LICENCES_FILE = join(ROOT, 'THIRD-PARTY-LICENSES.md')

/** Those that let anyone use, change and pass on what carries them, under terms that we keep. */
const TAKEN = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'PostgreSQL',
  'Unlicense',
])

/** False for one that no one has looked at. Of alternatives one is enough, of `AND` all are needed. */
export function isTaken(licence: string): boolean {
  const bare = licence.replace(/^\((.*)\)$/, '$1')
  if (bare.includes(' OR ')) return bare.split(' OR ').some(isTaken)
  return bare.split(' AND ').every((one) => TAKEN.has(one))
}

interface Listed extends Shipped {
  in: readonly Published[]
}

function listAll(): readonly Listed[] {
  const all = new Map<string, Listed>()
  for (const published of Object.keys(PUBLISHED) as Published[]) {
    for (const [key, one] of shippedIn(published).all) {
      const known = all.get(key)
      const isBundled = one.isBundled || known?.isBundled === true
      all.set(key, { ...one, isBundled, in: [...(known?.in ?? []), published] })
    }
  }
  return [...all].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, one]) => one)
}

/** The file as it should be. */
export function renderLicences(): string {
  const all = listAll()
  const refused = all.filter(({ licence }) => !isTaken(licence))
  if (refused.length > 0) {
    const names = refused.map(({ name, licence }) => `${name} (${licence})`).join(', ')
    throw new Error(`licences that no one has looked at: ${names}`)
  }
  const rows = all.map(
    ({ name, version, licence, isBundled, in: of }) =>
      `| ${name} | ${version} | ${licence} | ${of.map((each) => PUBLISHED[each]).join(', ')} | ${isBundled ? 'yes' : ''} |`,
  )
  return [
    '# Licences of others',
    '',
    'What the published packages contain or install besides our own code, which is under the [MIT licence](LICENSE).',
    '`npm run licences` writes this file from package-lock.json. What is inside our own files has its text below; what npm',
    'installs brings its own. The packages of the embedded PostgreSQL hold PostgreSQL itself, under the PostgreSQL licence.',
    '',
    '| Package | Version | Licence | In | Inside our files |',
    '|---|---|---|---|---|',
    ...rows,
    ...all.filter(({ isBundled }) => isBundled).flatMap(renderText),
    '',
  ].join('\n')
}

function renderText({ name, version, path }: Listed): string[] {
  return ['', `## ${name} ${version}`, '', '```', readLicence(path), '```']
}

function readLicence(path: string): string {
  const folder = join(ROOT, path)
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.\w+)?$/i.test(each))
  if (file === undefined)
    throw new Error(`${path} is inside our files and has no text of a licence`)
  return readFileSync(join(folder, file), 'utf8')
    .replaceAll('\r\n', '\n')
    .replaceAll('```', '')
    .trim()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeChanged(LICENCES_FILE, renderLicences(), isCheckOnly())
}
