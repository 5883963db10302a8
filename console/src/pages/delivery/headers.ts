/** Headers as users paste them: a line each, from curl, a log or a browser. Other lines are ignored. */
export function readHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const found = /^\s*[<>]?\s*['"]?([A-Za-z0-9-]+)['"]?\s*:\s*['"]?(.*?)['"]?,?\s*$/.exec(line)
    if (found?.[1] && found[2]) headers[found[1]] = found[2]
  }
  return headers
}
