// Which programs a text tells its reader to start: `node bench/trace.ts`, with flags of Node before it, or `./bench/trace.ts`.

/** What these take comes after them. */
const WITH_VALUE = '(?:--import|--require|-r)\\s+\\S+'
const STARTED = `\\bnode(?:\\s+(?:${WITH_VALUE}|-\\S+))*\\s+(?:\\./)?`
const BY_ITSELF = '(?<![\\w./])\\./'
const NAMED = new RegExp(
  `(?:${STARTED}|${BY_ITSELF})((?:bench|test|packages)/[\\w/-]+\\.[cm]?[jt]s)\\b`,
  'g',
)

/** From the root of the project; test files are none. */
export function programsNamedIn(text: string): readonly string[] {
  return [...text.matchAll(NAMED)].map(([, file]) => file as string)
}
