// Schemas to TypeScript: what has a name is called by it, descriptions become comments, and the order is
// that of the schemas. Knows only the keywords that the interface uses; another one is an error.

import type { TSchema } from 'typebox'
import { STATES_PATTERN } from '../../server/http/schemas/delivery-schema.ts'
import type { Shape } from './shapes.ts'

type Schema = Readonly<Record<string, unknown>>
type Properties = Readonly<Record<string, Schema>>

const LINE_CHARACTERS_MAX = 100

export class Renderer {
  readonly #names = new Map<string, string>()
  readonly #shapes = new Map<string, Shape>()

  constructor(shapes: readonly Shape[]) {
    for (const shape of shapes) {
      const structure = structureOf(shape.schema as Schema)
      const other = this.#names.get(structure)
      if (other !== undefined) throw new Error(`${shape.name} and ${other} are the same shape`)
      this.#names.set(structure, shape.name)
      this.#shapes.set(shape.name, shape)
    }
  }

  /** The declaration of one shape. */
  declare(shape: Shape): string {
    const schema = shape.schema as Schema
    const about = commentOf(schema, '')
    if (schema.properties === undefined) {
      const text = `export type ${shape.name} = ${this.#type(schema, '', shape)}`
      return `${about}${text.length > LINE_CHARACTERS_MAX ? onePerLine(text) : text}\n`
    }
    const head = shape.base === undefined ? shape.name : `${shape.name} extends ${shape.base}`
    return `${about}export interface ${head} ${this.#object(schema, '', shape)}\n`
  }

  #type(schema: Schema, indent: string, shape: Shape): string {
    const name = this.#names.get(structureOf(schema))
    if (name !== undefined && name !== shape.name) return name
    if (schema.title === 'Item') return 'Item'
    if (Array.isArray(schema.enum)) return schema.enum.map(literal).join(' | ')
    if (schema.const !== undefined) return literal(schema.const)
    if (shape.isRequest && isStates(schema)) return 'DeliveryState | readonly DeliveryState[]'
    // A query or a body is written with what a Date says of itself.
    if (shape.isRequest && schema.format === 'date-time') return 'string | Date'
    if (Array.isArray(schema.anyOf)) {
      return schema.anyOf.map((one) => this.#type(one, indent, shape)).join(' | ')
    }
    const types = [schema.type].flat()
    if (types.length === 2 && types[0] === 'object' && types[1] === 'null') {
      return `${this.#type({ ...schema, type: 'object' }, indent, shape)} | null`
    }
    return types.map((type) => this.#single(schema, type, indent, shape)).join(' | ')
  }

  #single(schema: Schema, type: unknown, indent: string, shape: Shape): string {
    if (type === 'string' || type === 'boolean' || type === 'null') return type
    if (type === 'integer' || type === 'number') return 'number'
    if (type === 'array') {
      const item = this.#type(schema.items as Schema, indent, shape)
      if (schema.maxItems === 2 && schema.minItems === 2) return `[${item}, ${item}]`
      return item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
    }
    if (type === 'object' && schema.patternProperties !== undefined) {
      const [value] = Object.values(schema.patternProperties as Properties)
      return `Record<string, ${this.#type(value as Schema, indent, shape)}>`
    }
    if (type === 'object' && schema.properties !== undefined) {
      return this.#object(schema, indent, shape)
    }
    throw new Error(`${shape.name}: no type is known for ${JSON.stringify(schema)}`)
  }

  #object(schema: Schema, indent: string, shape: Shape): string {
    const required = new Set(schema.required as string[] | undefined)
    const inherited = indent === '' ? this.#inherited(shape) : new Set()
    const lines = Object.entries(schema.properties as Properties)
      .filter(([name]) => !inherited.has(name))
      .map(([name, member]) => {
        const inner = `${indent}  `
        const mark = required.has(name) ? '' : '?'
        const orUndefined = mark === '?' && shape.isRequest ? ' | undefined' : ''
        const text = `${inner}${name}${mark}: ${this.#type(member, inner, shape)}${orUndefined}`
        const isLong = !text.includes('\n') && text.length > LINE_CHARACTERS_MAX
        return `${commentOf(member, inner)}${isLong ? onePerLine(text, inner) : text}\n`
      })
    return `{\n${lines.join('')}${indent}}`
  }

  /** The members that its base has already. They have to be the same there. */
  #inherited(shape: Shape): ReadonlySet<string> {
    if (shape.base === undefined) return new Set()
    const base = this.#shapes.get(shape.base)?.schema as Schema
    const own = shape.schema as Schema
    for (const [name, member] of Object.entries(base.properties as Properties)) {
      const mine = (own.properties as Properties)[name]
      if (mine === undefined || structureOf(mine) !== structureOf(member)) {
        throw new Error(`${shape.name} does not extend ${shape.base}: ${name} differs`)
      }
    }
    return new Set(Object.keys(base.properties as Properties))
  }
}

/** The values of an enumeration. */
export function declareWords(name: string, type: string, schema: TSchema): string {
  const values = (schema as Schema).enum as string[]
  return `export const ${name}: readonly ${type}[] = [\n${values.map((value) => `  '${value}',\n`).join('')}]\n`
}

/** What makes two schemas one type: everything but what only readers and checkers need. */
function structureOf(schema: Schema): string {
  return JSON.stringify(schema, (key, value) =>
    ['description', 'examples', 'format', 'default', 'published', 'pattern'].includes(key) ||
    /^(min|max)(imum|Length)$/.test(key)
      ? undefined
      : value,
  )
}

function literal(value: unknown): string {
  return value === null ? 'null' : `'${value}'`
}

/** One state, or several: callers need not join them. */
function isStates({ published }: Schema): boolean {
  return (published as { pattern?: string } | undefined)?.pattern === STATES_PATTERN
}

function commentOf(schema: Schema, indent: string): string {
  // What may be null instead is described inside.
  const { description } = { ...(schema.anyOf as Schema[] | undefined)?.[0], ...schema }
  if (typeof description !== 'string') return ''
  const room = LINE_CHARACTERS_MAX - indent.length - 3
  if (description.length + 4 <= room) return `${indent}/** ${description} */\n`
  const lines: string[] = []
  for (const word of description.split(' ')) {
    const joined = `${lines.at(-1)} ${word}`
    if (lines.length === 0 || joined.length > room) lines.push(word)
    else lines[lines.length - 1] = joined
  }
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`
}

/** As the formatter breaks a union that is too long for a line. */
function onePerLine(text: string, indent = ''): string {
  const at = text.indexOf(" '")
  const members = text.slice(at + 1).split(' | ')
  return text.slice(0, at) + members.map((member) => `\n${indent}  | ${member}`).join('')
}
