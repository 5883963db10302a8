// The files of the service as a mutant has them: the text of what it changes, and of nothing else.

import type { Mutant } from './mutant.ts'
import type { Edit, Site } from './mutant-edits.ts'
import { findPlace, type NamedPlaces } from './named-places.ts'
import { parseFile, type SyntaxNode } from './syntax.ts'

/** By their paths from the project's root on. */
export type ChangedFiles = ReadonlyMap<string, string>

export function mutate({ name, edits }: Mutant, places: NamedPlaces): ChangedFiles {
  const changed = new Map<string, string>()
  for (const [place, some] of Object.entries(edits)) {
    try {
      const file = places.fileOf(place)
      const pathTo = (wanted: string) => places.pathFrom(file, wanted)
      for (const edit of [some].flat()) {
        const text = changed.get(file)
        const program = text === undefined ? places.programOf(file) : parseFile(text)
        changed.set(file, editText(text ?? places.textOf(file), place, edit, pathTo, program))
      }
    } catch (error) {
      throw new Error(`“${name}”, ${place}: ${(error as Error).message}`, { cause: error })
    }
  }
  return changed
}

export function editText(
  text: string,
  place: string,
  edit: Edit,
  pathTo: Site['pathTo'],
  program: SyntaxNode = parseFile(text),
): string {
  const node = findPlace(program, place)
  if (node === null) throw new Error('an edit before this one has renamed it')
  const { start, end, by } = edit({ text, program, place: node, pathTo })
  return text.slice(0, start) + by + text.slice(end)
}
