// An address is cut in its middle, and only where there is no room for it: its host and its end are what tells it
// from others.

/** So much of the end is always there; an address that is hardly longer is never cut. */
const END_CHARACTERS = 14
const WHOLE_CHARACTERS_MAX = 24

/** The whole address is its title, and what is read aloud; what surrounds it is mostly a link. */
export function Address({ url }: { url: string }) {
  const text = url.replace(/^https?:\/\//, '')
  if (text.length <= WHOLE_CHARACTERS_MAX) {
    return (
      <span className="nowrap" title={url}>
        {text}
      </span>
    )
  }
  return (
    <span className="address" title={url}>
      <span className="visually-hidden">{text}</span>
      <span aria-hidden="true">{text.slice(0, -END_CHARACTERS)}</span>
      <span aria-hidden="true">{text.slice(-END_CHARACTERS)}</span>
    </span>
  )
}
