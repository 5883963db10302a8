// What the pictures share: colours that follow the reader's light or dark page, and the pieces of an SVG.

const STYLE = `<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .quiet { fill: #57606a; font-size: 12px }
  .strong { font-weight: 600 }
  .light { fill-opacity: 0.55; stroke: none }
  .title { font-weight: 600; font-size: 15px }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .ours { fill: #0969da; stroke: #0969da }
  .peer { fill: #8c959f; stroke: #8c959f }
  .floor { fill: #bf8700; stroke: #bf8700 }
  .line { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .quiet { fill: #9198a1 } .grid { stroke: #3d444d }
    .ours { fill: #4493f8; stroke: #4493f8 } .peer { fill: #656c76; stroke: #656c76 }
    .floor { fill: #d29922; stroke: #d29922 }
  }
</style>`

const WIDTH = 860

export function svg(title: string, height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${title}">
<title>${title}</title>
${STYLE}
${parts.join('\n')}
</svg>
`
}

export function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${fixed(x)}" y="${fixed(y)}" ${attributes}>${escaped}</text>`
}

export function fixed(value: number): string {
  return value.toFixed(1)
}
