// An address where there is little room: its host and its end are what tells it from others.

import { shortenMiddle } from './shorten.ts'

const CHARACTERS_MAX = 40

/** The whole address is its title; what surrounds it is mostly a link. */
export function Address({ url, max = CHARACTERS_MAX }: { url: string; max?: number }) {
  return (
    <span className="address nowrap" title={url}>
      {shortenMiddle(url.replace(/^https?:\/\//, ''), max)}
    </span>
  )
}
