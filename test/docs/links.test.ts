// What the documentation points at exists: pages, sections and files of the repository; and the
// lists that repeat another list are held to it.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const pages = [
  ...[
    'README',
    'ARCHITECTURE',
    'CONTRIBUTING',
    'RELEASING',
    'CHANGELOG',
    'SECURITY',
    'sdk/README',
  ].map((name) => `${name}.md`),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}

/** Code is not prose: what looks like a link or a heading in it is none. */
function withoutCode(text: string): string {
  return text.replaceAll(/^```.*?^```$/gms, '')
}

/** The anchors of a page's headings, as they are made on the common hosts. */
function anchorsOf(page: string): Set<string> {
  const headings = withoutCode(read(page)).matchAll(/^#+ (.*)$/gm)
  return new Set(
    [...headings].map((match) =>
      (match[1] as string)
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}

for (const page of pages) {
  test(`${page}: every link leads somewhere`, () => {
    for (const [, target] of withoutCode(read(page)).matchAll(/\]\(([^)]+)\)/g)) {
      if (/^https:/.test(target as string)) continue
      const [path, anchor] = (target as string).split('#', 2) as [string, string?]
      const file = path === '' ? page : relative(ROOT, join(ROOT, dirname(page), path))
      assert.ok(existsSync(join(ROOT, file)), `${target} does not exist`)
      if (anchor) assert.ok(anchorsOf(file).has(anchor), `${target} has no such section`)
    }
  })

  test(`${page}: every file that it names exists`, () => {
    for (const [, path] of read(page).matchAll(/`((?:server|test|migrations)\/[\w./-]*)`/g)) {
      assert.ok(existsSync(join(ROOT, path as string)), `${path} does not exist`)
    }
  })
}

test('CONTRIBUTING gives a reason for each run-time dependency', () => {
  const needed = ['server/package.json', 'cli/package.json'].flatMap((manifest) =>
    Object.keys(JSON.parse(read(manifest)).dependencies),
  )
  const table = read('CONTRIBUTING.md').matchAll(/^\| `(.*?)` \| .+ \|$/gm)
  assert.deepEqual([...table].map((match) => match[1]).sort(), [...new Set(needed)].sort())
})
