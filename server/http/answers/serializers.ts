// Answers are written by serialisers that Fastify compiles from the schemas, so that a member which a schema
// does not name is never sent. Compiling all of them was half of a server's start, and most are never used:
// problems are sent as bytes (failures.ts), and one process serves few of the routes.

import { type RouteDefinition, SerializerSelector } from '@fastify/fast-json-stringify-compiler'

const select = SerializerSelector()

type Factory = ReturnType<typeof SerializerSelector>

/** Compiles each serialiser when it writes its first answer. */
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
