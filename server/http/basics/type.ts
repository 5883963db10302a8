// The builders of TypeBox that the interface uses, with TypeBox's own types. Loading its 370 modules took 0.24 of the
// 1.75 CPU seconds of a start, for what these few lines do. type.test.ts holds each to what TypeBox makes.

import type { Type as TypeBox } from 'typebox'

type Builders = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unsafe'
>

type Schema = Readonly<Record<string, unknown>>

/** Optional is a member of an object, not a schema: the mark must not be published, so it is not enumerable. */
const OPTIONAL = '~optional'

const isOptional = (schema: Schema) => OPTIONAL in schema

function copyOf(schema: Schema, isMarked: boolean): Schema {
  const copy = { ...schema }
  if (isMarked) Object.defineProperty(copy, OPTIONAL, { value: true })
  return copy
}

function toObject(properties: Readonly<Record<string, Schema>>, options?: Schema): Schema {
  const names = Object.keys(properties)
  const required = names.filter((name) => !isOptional(properties[name] as Schema))
  return {
    type: 'object',
    ...(required.length > 0 ? { required } : {}),
    properties,
    ...options,
  }
}

const builders = {
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Schema) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: Schema) => ({ enum: values, ...options }),
  Integer: (options?: Schema) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Schema) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Schema) => ({ type: 'null', ...options }),
  Number: (options?: Schema) => ({ type: 'number', ...options }),
  Object: toObject,
  Optional: (schema: Schema) => copyOf(schema, true),
  /** With keys of any text alone. */
  Record: (_key: Schema, value: Schema, options?: Schema) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  String: (options?: Schema) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[], options?: Schema) => ({ anyOf, ...options }),
  Unsafe: (schema: Schema) => copyOf(schema, isOptional(schema)),
} satisfies Record<keyof Builders, unknown>

export const Type = builders as unknown as Builders
