// `npm run sbom [folder]`: what is inside each package that we publish, as CycloneDX 1.6, one file each; in
// packages/dist unless told otherwise. Made from package-lock.json alone: the same lock gives the same bytes,
// whenever and wherever it is made, so anyone can compare. `npm sbom` draws a number, tells the hour, names the folder
// it stands in, and does not know what is inside the pages of the console.

import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PUBLISHED, type Published, type Shipped, shippedIn, VERSION } from './shipped.ts'

export function sbomOf(published: Published): object {
  const own = { name: PUBLISHED[published], version: VERSION }
  const { all, direct } = shippedIn(published)
  const shipped = [...all.values()]
  const content = {
    metadata: {
      component: {
        type: 'application',
        'bom-ref': refOf(own),
        name: own.name,
        version: own.version,
        licenses: [{ license: { id: 'MIT' } }],
        purl: refOf(own),
      },
    },
    components: shipped.map(toComponent),
    dependencies: [
      { ref: refOf(own), dependsOn: [...new Set(direct)].map(refOfKey) },
      ...shipped.map((one) => ({ ref: refOf(one), dependsOn: one.needs.map(refOfKey) })),
    ],
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    // Of the content, where others are drawn at random: the same content has the same number.
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
    version: 1,
    ...content,
  }
}

function toComponent(one: Shipped): object {
  return {
    type: 'library',
    'bom-ref': refOf(one),
    name: one.name,
    version: one.version,
    scope: one.isOptional ? 'optional' : 'required',
    hashes: [{ alg: 'SHA-512', content: toHex(one.integrity) }],
    licenses: [
      one.licence.startsWith('(')
        ? { expression: one.licence.slice(1, -1) }
        : { license: { id: one.licence } },
    ],
    purl: refOf(one),
    // Of what is bundled only a part may be inside.
    ...(one.isBundled ? { properties: [{ name: 'paybell:bundled', value: 'true' }] } : {}),
  }
}

/** The package URL of npm. */
function refOf({ name, version }: { name: string; version: string }): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function refOfKey(key: string): string {
  const at = key.lastIndexOf('@')
  return refOf({ name: key.slice(0, at), version: key.slice(at + 1) })
}

function toHex(integrity: string): string {
  return Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
}

/** Version 8, whose bits are free: those of a SHA-256. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ]
  return parts.join('-')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = resolve(process.argv[2] ?? fileURLToPath(new URL('dist', import.meta.url)))
  mkdirSync(folder, { recursive: true })
  for (const published of Object.keys(PUBLISHED) as Published[]) {
    const file = join(folder, `${published}.cdx.json`)
    writeFileSync(file, `${JSON.stringify(sbomOf(published), null, 2)}\n`)
    console.log(file)
  }
}
