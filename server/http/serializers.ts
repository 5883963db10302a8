// Answers are written by serialisers that Fastify compiles from the schemas, so that a member which a
// schema does not name never leaves. Compiling all of them was half of a server's start, and most are
// never used: problems go out as bytes (failures.ts), and few routes are asked of one process.

import { type RouteDefinition, SerializerSelector } from '@fastify/fast-json-stringify-compiler'

const select = SerializerSelector()

type Factory = ReturnType<typeof SerializerSelector>

/** Each serialiser is compiled for the first answer that it writes. */
export const compileOnFirstUse: Factory = (externalSchemas, options) => {
  const compile = select(externalSchemas, options)
  return (route: RouteDefinition) => {
    let write: ReturnType<typeof compile> | undefined
    return (answer: unknown) => {
      write ??= compile(route)
      return write(answer)
    }
  }
}
