// The SDK's types, written from the schemas of the interface. Run by itself (`npm run wire`), it rewrites
// the files, or with `--check` compares them; so does test/house/wire.test.ts.

import { fileURLToPath } from 'node:url'
import { isCheckOnly, writeChanged } from '../../packages/write-changed.ts'
import { declareWords, Renderer } from './render.ts'
import { CLIENT_SHAPES, CONSOLE_SHAPES, OPERATOR_SHAPES, type Shape, WORDS } from './shapes.ts'

const WRITTEN = `// Written by \`npm run wire\` from the schemas of server/http; a test compares them.
`

const CLIENT_HEAD = `// The shapes that go over the wire, as callers import them.
// biome-ignore-all lint/style/noExcessiveLinesPerFile: it lists every shape and is written by a script.
${WRITTEN}`
const OPERATOR_HEAD = `// What the operator's interface and the ways in take and send, as callers import it.
// biome-ignore-all lint/style/noExcessiveLinesPerFile: it lists every shape and is written by a script.
${WRITTEN}`
const CONSOLE_HEAD = `// The operator's shapes, and what the console's session and the sandbox send, for the console and the command
// line. The package does not export the latter.
${WRITTEN}`
const WORDS_HEAD = `// The words that callers choose from, as values, in the interface's own order.
${WRITTEN}`

/** Path within the repository and text of every file that is written. */
export function wireFiles(): Readonly<Record<string, string>> {
  const renderer = new Renderer([...CLIENT_SHAPES, ...OPERATOR_SHAPES, ...CONSOLE_SHAPES])
  const declare = (shapes: readonly Shape[]) =>
    shapes.filter(({ isByHand }) => !isByHand).map((shape) => renderer.declare(shape))
  const byHand = CLIENT_SHAPES.filter(({ isByHand }) => isByHand).map(({ name }) => name)
  const ofClient = CLIENT_SHAPES.map(({ name }) => name).filter((name) => !byHand.includes(name))
  const ofOperator = OPERATOR_SHAPES.map(({ name }) => name)
  const operator = declare(OPERATOR_SHAPES).join('\n')
  const ofConsole = declare(CONSOLE_SHAPES).join('\n')
  const words = Object.entries(WORDS).map(([name, type]) => {
    const shape = CLIENT_SHAPES.find((one) => one.name === type) as Shape
    return declareWords(name, type, shape.schema)
  })
  return {
    'sdk/src/wire/types.ts': [
      CLIENT_HEAD,
      `import type { ${byHand.join(', ')} } from './payment-parts.ts'\n`,
      ...declare(CLIENT_SHAPES),
    ].join('\n'),
    'sdk/src/wire/operator-types.ts': [
      OPERATOR_HEAD,
      importOf(byHand, operator, './payment-parts.ts') + importOf(ofClient, operator, './types.ts'),
      operator,
    ].join('\n'),
    'sdk/src/internal/operator-types.ts': [
      CONSOLE_HEAD,
      `${importOf(ofOperator, ofConsole, '../wire/operator-types.ts')}\nexport type * from '../wire/operator-types.ts'\n`,
      ofConsole,
    ].join('\n'),
    'sdk/src/internal/words.ts': [
      WORDS_HEAD,
      `import type { ${Object.values(WORDS).toSorted().join(', ')} } from '../wire/types.ts'\n`,
      ...words,
    ].join('\n'),
  }
}

/** Of these names those that the text uses, as the formatter writes it. */
function importOf(names: readonly string[], text: string, from: string): string {
  const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(text)).toSorted()
  if (used.length === 0) return ''
  const line = `import type { ${used.join(', ')} } from '${from}'\n`
  if (line.length <= 101) return line
  return `import type {\n${used.map((name) => `  ${name},\n`).join('')}} from '${from}'\n`
}

export function pathOf(file: string): string {
  return fileURLToPath(new URL(`../../${file}`, import.meta.url))
}

if (import.meta.main) {
  const isCheck = isCheckOnly()
  for (const [file, text] of Object.entries(wireFiles())) writeChanged(pathOf(file), text, isCheck)
}
